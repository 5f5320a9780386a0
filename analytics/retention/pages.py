"""Remove report pages of days and months that are past the reports' own time."""

import re
from datetime import date, timedelta
from pathlib import Path

from analytics.page_folder import ALL, domains, file_of, names

_DAY, _MONTH = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"\d{4}-\d{2}")


def remove_pages(folder: Path, last: date) -> None:
    """Remove the pages of all that ended up to that day, by name. The page of all domains is the
    last to go: whoever is killed before finds it, and does it again."""
    due = [one for one in names(folder) if (ended := last_day_of(one)) and ended <= last]
    places = [*domains(folder), folder, folder / ALL] if due else []
    for name in due:
        for place in places:
            file_of(place, name).unlink(missing_ok=True)


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
