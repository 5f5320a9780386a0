"""Pages of reports as files, of days and months that are past the reports' own time."""

import re
from datetime import date, timedelta
from pathlib import Path

_DAY, _MONTH = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"\d{4}-\d{2}")


def remove_pages(folder: Path, last: date) -> None:
    """Of all that ended up to that day. What isn't named after a day or a month stays."""
    for file in folder.glob("**/*.html"):
        ended = last_day_of(file.stem)
        if ended is not None and ended <= last:
            file.unlink(missing_ok=True)


def last_day_of(name: str) -> date | None:
    try:
        if _DAY.fullmatch(name):
            return date.fromisoformat(name)
        if _MONTH.fullmatch(name):
            later = date.fromisoformat(f"{name}-28") + timedelta(days=4)
            return later.replace(day=1) - timedelta(days=1)
    except ValueError:
        pass
    return None
