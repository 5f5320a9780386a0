"""Small charts as SVG paths. Pure: a template puts them into a page, no script draws them."""

from collections.abc import Sequence

WIDTH, HEIGHT = 300, 48
"""The size in the drawing's own units; a style sheet says how large it is shown."""


def line(series: Sequence[float | None], kept: int = 300) -> str:
    """Return the `d` of a path, the latest of `kept` at the right edge. Values that aren't known
    are a gap."""
    top = max((value for value in series if value is not None), default=0) or 1
    step = WIDTH / max(kept - 1, 1)
    left = WIDTH - step * (len(series) - 1)
    words, drawing = [], False
    for number, value in enumerate(series):
        if value is not None:
            x, y = left + number * step, HEIGHT - 1 - (HEIGHT - 2) * value / top
            words.append(f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}")
        drawing = value is not None
    return "".join(words)


def highest(series: Sequence[float | None]) -> float:
    return max((value for value in series if value is not None), default=0)
