"""Numbers as people read them. Pure."""


def figure(value: float | None) -> str:
    """A dash for what isn't known; a digit behind the point where it tells something."""
    if value is None:
        return "–"
    if value == int(value) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}"
