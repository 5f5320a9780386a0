"""The timeline: rate, latency and faults under one another, as an SVG that follows light and dark.

Colours are CSS variables of the page around it. Each fault names itself when it is pointed at.
"""

import math
from collections.abc import Callable, Sequence
from html import escape

from tests.chaos.report.series import Bar, Series

LEFT, WIDTH = 110, 880
TRACK, GAP, LANE = 120, 34, 14


def draw(series: Series) -> str:
    """Three tracks over one axis of time."""
    span = max(1.0, series.seconds, *(bar.end for bar in series.bars))

    def x(second: float) -> float:
        return LEFT + second / span * WIDTH

    lanes = sorted({bar.target for bar in series.bars})
    faults_top = 2 * (TRACK + GAP) + GAP
    bottom = faults_top + max(1, len(lanes)) * LANE
    parts = [
        f'<svg viewBox="0 0 {LEFT + WIDTH + 20} {bottom + 30}" role="img"'
        ' aria-label="rate, latency and faults over time">',
        *_axis(span, x, GAP, bottom),
        *_rates(series, x),
        *_latencies(series, x),
        *_faults(series.bars, lanes, x, faults_top),
        "</svg>",
    ]
    return "\n".join(parts)


def _axis(span: float, x: Callable[[float], float], top: float, bottom: float) -> list[str]:
    step = _round_step(span / 10)
    parts = []
    for number in range(int(span / step) + 1):
        at = x(number * step)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">'
            f"{number * step:g} s</text>"
        )
    return parts


def _rates(series: Series, x: Callable[[float], float]) -> list[str]:
    most = max([1, *series.accepted])
    floor = GAP + TRACK

    def y(value: float) -> float:
        return floor - value / most * TRACK

    parts = [*_title("accepted/s", GAP), *_tick(f"{most:,}", GAP + 8), *_tick("0", floor)]
    points = " ".join(f"{x(n + 0.5):.1f},{y(value):.1f}" for n, value in enumerate(series.accepted))
    last = x(len(series.accepted) - 0.5) if series.accepted else LEFT
    parts.append(
        f'<polygon class="accepted" points="{x(0.5):.1f},{floor} {points} {last:.1f},{floor}"/>'
    )
    for kind, values in (("declined", series.declined), ("unknown", series.unknown)):
        parts += [
            f'<line class="{kind}" x1="{x(n + 0.5):.1f}" x2="{x(n + 0.5):.1f}" y1="{floor}"'
            f' y2="{y(min(value, most)):.1f}"><title>{value} {kind}</title></line>'
            for n, value in enumerate(values)
            if value
        ]
    return parts


def _latencies(series: Series, x: Callable[[float], float]) -> list[str]:
    """On a logarithmic scale, from 1 ms to 10 s."""
    top = 2 * GAP + TRACK
    floor = top + TRACK

    def y(milliseconds: float) -> float:
        return floor - min(1.0, max(0.0, math.log10(max(1.0, milliseconds)) / 4)) * TRACK

    parts = _title("latency", top)
    for value, name in (
        (1, "1 ms"),
        (10, "10 ms"),
        (100, "100 ms"),
        (1000, "1 s"),
        (10000, "10 s"),
    ):
        parts += _tick(name, y(value) + 4)
    parts += _line("p99", series.p99_ms, x, y)
    parts += _line("p50", series.p50_ms, x, y)
    return parts


def _line(
    name: str,
    values: Sequence[float | None],
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> list[str]:
    """With a gap where nothing was accepted."""
    pieces: list[list[str]] = [[]]
    for n, value in enumerate(values):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{x(n + 0.5):.1f},{y(value):.1f}")
    return [f'<polyline class="{name}" points="{" ".join(p)}"/>' for p in pieces if p]


def _faults(
    bars: Sequence[Bar], lanes: Sequence[str], x: Callable[[float], float], top: float
) -> list[str]:
    parts = []
    for number, lane in enumerate(lanes):
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{top + number * LANE + 10}"'
            f' text-anchor="end">{escape(lane)}</text>'
        )
    for bar in bars:
        lane_top = top + lanes.index(bar.target) * LANE + 2
        width = max(2.0, x(bar.end) - x(bar.begin))
        kind = "destroyed" if bar.destroyed else "fault"
        parts.append(
            f'<rect class="{kind}" x="{x(bar.begin):.1f}" y="{lane_top}" width="{width:.1f}"'
            f' height="{LANE - 4}" rx="2"><title>{escape(bar.name)} of {escape(bar.target)}, '
            f"{bar.begin:.1f} to {bar.end:.1f} s</title></rect>"
        )
    return parts


def _title(text: str, top: float) -> list[str]:
    return [f'<text class="title" x="{LEFT}" y="{top - 8}">{text}</text>']


def _tick(text: str, y: float) -> list[str]:
    return [f'<text class="tick" x="{LEFT - 8}" y="{y:.1f}" text-anchor="end">{text}</text>']


def _round_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, at least as large."""
    power = math.pow(10, math.floor(math.log10(rough)))
    return next(power * one for one in (1, 2, 5, 10) if power * one >= rough)
