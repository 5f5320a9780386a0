"""Takes small groups out of reports of all domains, for others than those who run the place.

A day with fewer than `fewest` messages is not in the reports at all, whatever it has to say. Of the
others a group (a domain, an hour, messages that took so many attempts) with fewer is not shown, nor
anything that a total would give away: there are always two hidden ones at least, `fewest` messages
together. How long something took, and which share kept to a target, is told of all domains together
and of no day on which there were fewer.

What is shown of a month is the sum of what is shown of its days, so that the pages of days, held
against that of the month, tell nothing more.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from gatepost.insight.figures import Figures, Spread, Tries, together
from gatepost.insight.said import attempts_in, counts_in, period_of, step_of, times_in
from gatepost.insight.shapes import (
    Attained,
    Attempts,
    Foreseen,
    Measured,
    OfGroup,
    OfPlace,
    Reports,
    Unusual,
)

K = TypeVar("K", int, str)
_NOT_ENDED = -1


@dataclass(frozen=True, slots=True)
class OfAll:
    """A day of all domains together, with the number of messages that each domain sent, and how far
    all together kept to each target."""

    figures: Figures
    domains: Mapping[str, int]
    attained: Sequence[Attained]


def visible(counts: Mapping[K, int], fewest: int) -> dict[K, int]:
    """Return what may be shown of parts whose total is known."""
    shown = {key: count for key, count in counts.items() if count >= fewest}
    hidden = [count for key, count in counts.items() if count and key not in shown]
    for key in sorted(shown, key=lambda one: (shown[one], one)):
        if not hidden or (len(hidden) > 1 and sum(hidden) >= fewest):
            break
        hidden.append(shown.pop(key))
    return shown


def for_others(reports: Reports, days: Mapping[str, OfAll], fewest: int) -> Reports:
    """Return the reports as others may see them. `days` are those on which anything was sent."""
    shown = {day: one for day, one in days.items() if one.figures.accepted >= fewest}
    told = {day: _told(one.figures, fewest) for day, one in shown.items()}
    whole = together(told.values())
    return msgspec.structs.replace(
        reports,
        fewest=fewest,
        whole=period_of(len(told), whole),
        before=None,
        places=[_place(one.place, told) for one in reports.places],
        hours=_hours(reports, fewest) if len(reports.places) == 1 and told else [],
        reasons={},
        buckets={},
        attempts=_attempts(attempts_in(told.values(), whole)),
        groups=_groups([one.domains for one in shown.values()], whole.accepted, fewest),
        more_groups=0,
        senders=None,
        senders_by_place=[],
        busiest=[],
        newcomers=[],
        silent=[],
        unusual=[one for one in reports.unusual if _is_told(one, told, fewest)],
        foreseen=_foreseen(reports.foreseen, fewest),
        attained=_attained([shown[day].attained for day in sorted(shown, reverse=True)], fewest),
    )


def _told(figures: Figures, fewest: int) -> Figures:
    """Return what a day has to say to others: how many were accepted, but not what became of them,
    as with few that would tell of them; and how long it took, where that is of enough."""
    times, tries = _enough(figures.spread.times, fewest), figures.spread.tries
    if tries is not None:
        tries = Tries(
            first=_enough(tries.first, fewest),
            again=_enough(tries.again, fewest),
            delivered=_ended(tries, figures.accepted, fewest),
            took=_enough(tries.took, fewest),
        )
    return Figures(figures.accepted, spread=Spread(times=times, tries=tries))


def _ended(tries: Tries, accepted: int, fewest: int) -> dict[int, int]:
    """Return the messages that have ended, by how many attempts they took; whether they were
    delivered then, or had failed, isn't told. Those that have not ended are what would be left."""
    ended = Counter(tries.delivered) + Counter(tries.failed)
    steps = Counter({_NOT_ENDED: accepted - ended.total()})
    for bucket, count in ended.items():
        steps[step_of(bucket)] += count
    shown = visible(steps, fewest)
    return {bucket: count for bucket, count in ended.items() if step_of(bucket) in shown}


def _enough(counts: dict[int, int], fewest: int) -> dict[int, int]:
    return counts if sum(counts.values()) >= fewest else {}


def _place(name: str, told: Mapping[str, Figures]) -> OfPlace:
    found = told.get(name)
    if found is None:
        return OfPlace(name, None, times_in({}), {})
    return OfPlace(name, counts_in(found), times_in(found.spread.times), {})


def _hours(reports: Reports, fewest: int) -> list[list[int]]:
    """Return the hours that may be shown, for one day alone: those of a month would tell what is
    hidden of its days."""
    shown = visible({n: counts[0] for n, counts in enumerate(reports.hours)}, fewest)
    return [[shown[n], 0, 0] if n in shown else [] for n in range(len(reports.hours))]


def _attempts(found: Attempts | None) -> Attempts | None:
    """Return the attempts without distributions of times: of their ends there are few."""
    if found is None:
        return None
    first, again, took = (Measured(one.times, {}) for one in (found.first, found.again, found.took))
    messages = [counts if any(counts) else [] for counts in found.messages]
    return Attempts(found.days, first, again, took, messages)


def _groups(days: Iterable[Mapping[str, int]], whole: int, fewest: int) -> list[OfGroup]:
    shown: dict[str, int] = {}
    for domains in days:
        for domain, count in visible(domains, fewest).items():
            shown[domain] = shown.get(domain, 0) + count
    ranked = sorted(shown, key=lambda one: (-shown[one], one))
    groups = [OfGroup(name, shown[name], None, None, None) for name in ranked]
    others = whole - sum(shown.values())
    return [*groups, OfGroup("others", others, None, None, None)] if others else groups


def _is_told(one: Unusual, told: Mapping[str, Figures], fewest: int) -> bool:
    """Return whether something unusual may be told. What is usual tells of other days: where it is
    little, they had little."""
    if one.domain or one.day not in told:
        return False
    if one.measure == "delivery_p95":
        return bool(told[one.day].spread.times)
    return min(one.value, one.usual) >= fewest


def _foreseen(found: list[Foreseen], fewest: int) -> list[Foreseen]:
    """Return what is foreseen, or nothing where there is too little on an average day, with which
    it begins."""
    levels = [one.at_present for one in found if one.target == "volume"]
    return found if all(level >= fewest for level in levels) else []


def _attained(days: Iterable[Sequence[Attained]], fewest: int) -> list[Attained]:
    """Return what was attained, from the last day backwards: a target that was changed on the way
    stands behind what it is now."""
    found: dict[tuple[str, int, float], tuple[int, int]] = {}
    for one in (one for day in days for one in day if one.total >= fewest):
        key = (one.objective, one.target_ms, one.share)
        good, total = found.get(key, (0, 0))
        found[key] = good + one.good, total + one.total
    return [Attained(*key, *found[key]) for key in sorted(found, key=lambda key: key[0])]
