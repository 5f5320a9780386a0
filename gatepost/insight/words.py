"""Words for figures, times and days, as people read them. Pure."""

from datetime import date

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_REASONS = {
    "attempts_used": "all attempts used",
    "expired": "time over",
    "unreadable": "not readable",
    "key_conflict": "key used for another",
    "unknown": "nobody wrote down why",
}


def figure(value: float | None) -> str:
    """Return a figure: a dash for what isn't known, and a digit behind the point where it tells
    something."""
    if value is None:
        return "–"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}"


def milliseconds(value: float | None) -> str:
    """Return a time to two digits, in the unit that people would say."""
    if value is None:
        return "–"
    for size, unit in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if value >= size * 0.995:
            return f"{_short(value / size)} {unit}"
    return f"{_short(value)} ms"


def share(part: float, whole: float) -> str:
    """Return a share in hundredths; what isn't all of it is never said to be."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    text = f"{percent:.2f}" if percent > 99 else f"{percent:.1f}"
    if part < whole and text == "100.00":
        return "> 99.99 %"
    if part > 0 and text == "0.0":
        return "< 0.1 %"
    return f"{text.rstrip('0').rstrip('.')} %"


def reason(name: str) -> str:
    """Return why messages failed, in few words; a reason of a later release as it is called
    there."""
    return _REASONS.get(name) or name.replace("_", " ")


def weekday(day: date) -> str:
    return _WEEKDAYS[day.weekday()]


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")
