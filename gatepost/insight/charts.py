"""Makes charts as geometry: what a template draws as SVG, and the table that says the same. Pure.

A drawing is 1000 × 100 units, stretched to whatever room there is; words stand beside it, by shares
of its width and height, so that they aren't stretched. Colours come from style sheets, by `kind`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDTH, HEIGHT = 1000.0, 100.0
GAP = 0.18
"""The gap between two columns, as a share of a column."""
_TICKS = 5
_SHORT = 3
"""The most characters of a short label. There is room for twice as many short labels."""
Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class Column:
    """The drawing at one place: its boxes, and what all of it is in words."""

    words: str
    boxes: Sequence[Box]


@dataclass(frozen=True, slots=True)
class Path:
    kind: str
    d: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A label of an axis, at so many hundredths of the drawing."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Chart:
    name: str
    title: str
    words: str
    """A description of the chart, for those who don't see it."""
    columns: Sequence[Column]
    paths: Sequence[Path]
    heights: Sequence[Mark]
    places: Sequence[Mark]
    kinds: Sequence[tuple[str, str]]
    """The meaning of its colours: each kind and its words."""
    table: Table


@dataclass(frozen=True, slots=True)
class Series:
    """One value for each place; None where nothing is known, or may be said."""

    kind: str
    words: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a chart; `places` are the labels along it, and `what` is the heading of
    these."""

    name: str
    title: str
    what: str
    places: Sequence[str]


def columns(about: About, series: Sequence[Series], form: Format) -> Chart:
    """Return a chart of columns, on top of each other where there are several series."""
    sums = [sum(one.values[n] or 0 for one in series) for n in range(len(about.places))]
    top, step = _scale(max(sums, default=0))
    width = WIDTH / max(len(about.places), 1)
    drawn = [
        Column(_words(about, series, n, form), _stack(series, n, width, top))
        for n in range(len(about.places))
    ]
    heights = [
        Mark(100 - 100 * step * n / top, form(step * n)) for n in range(1, round(top / step) + 1)
    ]
    return _chart(about, series, form, drawn, [], heights)


def lines(about: About, series: Sequence[Series], form: Format) -> Chart:
    """Return a chart of lines over powers of ten: for times, of which some are a thousand times
    others."""
    known = [value for one in series for value in one.values if value is not None]
    low, high = _powers(known)
    width = WIDTH / max(len(about.places), 1)

    def height(value: float) -> float:
        return HEIGHT - HEIGHT * (log10(max(value, 10.0**low)) - low) / (high - low)

    paths = [Path(one.kind, _line(one.values, width, height)) for one in series]
    drawn = [
        Column(_words(about, series, n, form), _hover(n, width)) for n in range(len(about.places))
    ]
    heights = [Mark(height(10.0**n), form(10.0**n)) for n in range(low, high + 1)]
    return _chart(about, series, form, drawn, paths, heights)


def _chart(
    about: About,
    series: Sequence[Series],
    form: Format,
    drawn: Sequence[Column],
    paths: Sequence[Path],
    heights: Sequence[Mark],
) -> Chart:
    rows = [
        [place, *(_said(one.values[n], form) for one in series)]
        for n, place in enumerate(about.places)
    ]
    return Chart(
        about.name,
        about.title,
        _summary(about, series, form),
        drawn,
        paths,
        heights,
        _places(about.places),
        [(one.kind, one.words) for one in series],
        Table([about.what, *(one.words for one in series)], rows),
    )


def _stack(series: Sequence[Series], n: int, width: float, top: float) -> list[Box]:
    boxes, below = [], 0.0
    for one in series:
        if value := one.values[n]:
            height = HEIGHT * value / top
            left = n * width + width * GAP / 2
            y = HEIGHT - below - height
            boxes.append(
                Box(
                    round(left, 2),
                    round(y, 2),
                    round(width * (1 - GAP), 2),
                    round(height, 2),
                    one.kind,
                )
            )
            below += height
    return boxes


def _hover(n: int, width: float) -> list[Box]:
    """Return an invisible box: the area in which the words of a place show."""
    return [Box(round(n * width, 2), 0, round(width, 2), HEIGHT, "none")]


def _line(values: Sequence[float | None], width: float, height: Callable[[float], float]) -> str:
    """Return the `d` of a path; what isn't known is a gap, what stands alone a short stroke."""
    words, drawing = [], False
    for n, value in enumerate(values):
        if value is not None:
            x, y = (n + 0.5) * width, height(value)
            alone = not drawing and (n + 1 == len(values) or values[n + 1] is None)
            words.append(f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}" + ("h6" if alone else ""))
        drawing = value is not None
    return "".join(words)


def _scale(most: float) -> tuple[float, float]:
    """Return the top of an axis, and the step between its marks: 1, 2 or 5 times a power of ten."""
    if most <= 0:
        return 1.0, 1.0
    raw = most / 3
    power = 10.0 ** floor(log10(raw))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= raw)
    step = max(step, 1.0)
    return step * ceil(most / step), step


def _powers(values: Sequence[float]) -> tuple[int, int]:
    if not values:
        return 0, 1
    low = floor(log10(max(min(values), 1.0)))
    return low, max(ceil(log10(max(*values, 2.0))), low + 1)


def _places(labels: Sequence[str]) -> list[Mark]:
    """Return marks for a few labels, evenly spaced: more than that nobody can read on a phone."""
    short = all(len(one) <= _SHORT for one in labels)
    every = max(1, ceil(len(labels) / (2 * _TICKS if short else _TICKS)))
    return [
        Mark(round(100 * (n + 0.5) / len(labels), 2), label)
        for n, label in enumerate(labels)
        if n % every == 0
    ]


def _words(about: About, series: Sequence[Series], n: int, form: Format) -> str:
    said = ", ".join(f"{one.words} {_said(one.values[n], form)}" for one in series)
    return f"{about.places[n]}: {said}"


def _summary(about: About, series: Sequence[Series], form: Format) -> str:
    parts = []
    for one in series:
        known = {n: value for n, value in enumerate(one.values) if value is not None}
        if any(known.values()):
            most = max(known, key=lambda n: known[n])
            parts.append(f"{one.words}: at most {form(known[most])}, at {about.places[most]}")
    return "; ".join(parts) or "Nothing to be shown."


def _said(value: float | None, form: Format) -> str:
    return "–" if value is None else form(value)
