"""Reports of all domains, for others than those who run the place: small groups are not in them.

A group (a domain, an hour, a reason) with fewer than `fewest` messages is not shown, nor anything
that a total would give away: there are always two hidden ones at least, `fewest` messages together.
What is shown of a month is the sum of what is shown of its days, so that the pages of days, held
against that of the month, tell nothing more. How long deliveries took is shown for all together.
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from gatepost.insight.shapes import Counts, OfGroup, OfPlace, Reports

K = TypeVar("K", int, str)
DomainsByDay = Mapping[str, Mapping[str, int]]
"""Of each day: how many messages each domain sent."""


def visible(counts: Mapping[K, int], fewest: int) -> dict[K, int]:
    """What may be shown of parts whose total is known."""
    shown = {key: count for key, count in counts.items() if count >= fewest}
    hidden = [count for key, count in counts.items() if count and key not in shown]
    for key in sorted(shown, key=lambda one: (shown[one], one)):
        if not hidden or (len(hidden) > 1 and sum(hidden) >= fewest):
            break
        hidden.append(shown.pop(key))
    return shown


def for_others(reports: Reports, days: DomainsByDay, fewest: int) -> Reports:
    """`days` are all domains, of each day of the report."""
    shown = {day: counts for day, counts in days.items() if sum(counts.values()) >= fewest}
    groups: dict[str, int] = {}
    for counts in shown.values():
        for domain, count in visible(counts, fewest).items():
            groups[domain] = groups.get(domain, 0) + count
    whole = sum(sum(counts.values()) for counts in shown.values())
    return msgspec.structs.replace(
        reports,
        fewest=fewest,
        whole=msgspec.structs.replace(reports.whole, counts=_accepted(whole)),
        before=None,
        places=[_place(one, shown) for one in reports.places],
        hours=_hours(reports, fewest) if len(reports.places) == 1 and shown else [],
        reasons={},
        buckets={},
        groups=_groups(groups, whole),
        more_groups=0,
        senders=None,
        senders_by_place=[],
        busiest=[],
        newcomers=[],
        silent=[],
        unusual=[one for one in reports.unusual if not one.domain and one.day in shown],
    )


def _place(place: OfPlace, shown: DomainsByDay) -> OfPlace:
    known = shown.get(place.place)
    counts = None if known is None else _accepted(sum(known.values()))
    return OfPlace(place.place, counts, place.times, {})


def _hours(reports: Reports, fewest: int) -> list[list[int]]:
    """Of one day alone: of a month they would tell what is hidden of its days."""
    shown = visible({n: counts[0] for n, counts in enumerate(reports.hours)}, fewest)
    return [[shown[n], 0, 0] if n in shown else [] for n in range(len(reports.hours))]


def _groups(shown: Mapping[str, int], whole: int) -> list[OfGroup]:
    ranked = sorted(shown, key=lambda one: (-shown[one], one))
    groups = [OfGroup(name, shown[name], None, None, None) for name in ranked]
    others = whole - sum(shown.values())
    return [*groups, OfGroup("others", others, None, None, None)] if others else groups


def _accepted(count: int) -> Counts:
    """Nothing but that: what became of few messages would tell of them."""
    return Counts(count, 0, 0, 0, 0, 0, 0)
