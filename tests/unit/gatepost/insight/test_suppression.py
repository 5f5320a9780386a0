"""Small groups are neither shown nor to be found by subtracting."""

from collections.abc import Mapping, Sequence
from datetime import date

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gatepost.insight.figures import Figures, Spread, Tries, together
from gatepost.insight.repository import Asked
from gatepost.insight.said import STEPS, attempts_in, period_of, step_of
from gatepost.insight.shapes import Attained, Foreseen, Measured, Reports, Times, Unusual
from gatepost.insight.suppression import OfAll, for_others, visible
from gatepost.insight.view import places_of
from tests.unit.portal.report_cases import reports

COUNTS = st.dictionaries(st.integers(0, 30), st.integers(0, 40), max_size=12)
FEWEST = 10
NO_TIMES = Times(None, None, None)
NO_MEASURE = Measured(NO_TIMES, {})
Days = Mapping[str, OfAll]


@given(COUNTS, st.integers(1, 20))
def test_what_is_hidden_can_not_be_told_from_the_total(counts: dict[int, int], fewest: int) -> None:
    shown = visible(counts, fewest)
    assert all(count >= fewest for count in shown.values())
    hidden = [count for key, count in counts.items() if count and key not in shown]
    if hidden and shown:
        assert len(hidden) > 1
        assert sum(hidden) >= fewest


def test_the_smallest_of_the_others_hides_with_it() -> None:
    assert visible({"a": 100, "b": 50, "c": 3}, FEWEST) == {"a": 100}
    assert visible({"a": 100, "b": 50, "c": 3, "d": 8}, FEWEST) == {"a": 100, "b": 50}
    assert visible({"a": 100, "b": 50, "c": 3, "d": 4}, FEWEST) == {"a": 100}
    assert visible({"a": 100, "b": 10}, FEWEST) == {"a": 100, "b": 10}
    assert visible({"a": 100, "b": 9}, FEWEST) == {}


def a_day(domains: Mapping[str, int], spread: Spread, attained: Sequence[Attained]) -> OfAll:
    return OfAll(Figures(sum(domains.values()), spread=spread), domains, attained)


BUCKETS = st.dictionaries(st.integers(0, 40), st.integers(1, 20), max_size=4)
TRIES = st.builds(
    Tries, first=BUCKETS, again=BUCKETS, delivered=BUCKETS, failed=BUCKETS, took=BUCKETS
)
SPREADS = st.builds(Spread, times=BUCKETS, tries=st.none() | TRIES)
KEPT = st.builds(
    Attained,
    st.sampled_from(["acceptance", "delivery"]),
    st.sampled_from([100, 60_000]),
    st.just(0.95),
    st.integers(0, 5),
    st.integers(5, 20),
)


def days_with(most: int) -> st.SearchStrategy[OfAll]:
    """With so many messages of each of three domains at most."""
    names = st.sampled_from(["a.example", "b.example", "c.example"])
    domains = st.dictionaries(names, st.integers(0, most), max_size=3)
    return st.builds(a_day, domains, SPREADS, st.lists(KEPT, max_size=2))


A_FEW = days_with((FEWEST - 1) // 3)
SOME_DAYS = st.lists(A_FEW | days_with(40), min_size=1, max_size=4).map(
    lambda found: {f"2026-11-{n:02}": one for n, one in enumerate(found, 1)}
)


def document(days: Days) -> Reports:
    """As those who run the place have it."""
    own = {date.fromisoformat(day): one.figures for day, one in days.items()}
    whole = together(own.values())
    return reports(
        domain=None,
        grouped_by="domain",
        whole=period_of(len(own), whole),
        places=places_of(Asked(min(own), max(own)), own),
        buckets=whole.spread.times,
        attempts=attempts_in(own.values(), whole),
        attained=[kept for one in days.values() for kept in one.attained],
        groups=[],
        more_groups=0,
    )


def told(days: Days) -> Reports:
    return for_others(document(days), days, FEWEST)


@given(SOME_DAYS, A_FEW)
def test_of_a_day_with_few_messages_nothing_is_said_at_all(days: Days, other: OfAll) -> None:
    """Whatever was on it: what is told is the same."""
    few = {day for day, one in days.items() if one.figures.accepted < FEWEST}
    changed = {day: other if day in few else one for day, one in days.items()}
    assert told(days) == told(changed)


@given(SOME_DAYS)
def test_of_few_nothing_is_said(days: Days) -> None:
    found = told(days)
    shown = [one.figures.spread for one in days.values() if one.figures.accepted >= FEWEST]
    for place in found.places:
        if place.times != NO_TIMES:
            figures = days[place.place].figures
            assert min(figures.accepted, sum(figures.spread.times.values())) >= FEWEST
    assert all(one.total >= FEWEST for one in found.attained)
    if found.attempts is None:
        return
    assert all(sum(counts) >= FEWEST for counts in found.attempts.messages if counts)
    for name in ("first", "again", "took"):
        of_days = [getattr(one.tries, name) for one in shown if one.tries]
        measured = getattr(found.attempts, name)
        assert measured.buckets == {}
        if measured != NO_MEASURE:
            assert max(sum(counts.values()) for counts in of_days) >= FEWEST


@given(SOME_DAYS)
def test_the_month_is_what_is_shown_of_its_days(days: Days) -> None:
    """Else its page, less those of the days, would tell what these hide."""
    of_days = [told({day: one}) for day, one in days.items()]
    whole = told(days)
    assert whole.whole.counts.accepted == sum(one.whole.counts.accepted for one in of_days)
    for name in ("a.example", "b.example", "c.example", "others"):
        assert _group(whole, name) == sum(_group(one, name) for one in of_days)
    for step in range(len(STEPS)):
        assert _step(whole, step) == sum(_step(one, step) for one in of_days)
    for objective in ("acceptance", "delivery"):
        assert _total(whole, objective) == sum(_total(one, objective) for one in of_days)


def _group(found: Reports, name: str) -> int:
    return sum(one.accepted for one in found.groups if one.name == name)


def _step(found: Reports, step: int) -> int:
    return sum(found.attempts.messages[step]) if found.attempts else 0


def _total(found: Reports, objective: str) -> int:
    return sum(one.total for one in found.attained if one.objective == objective)


QUICK = Spread(times={40: 560}, tries=Tries(first={8: 590}, delivered={8: 540, 12: 20, 16: 13}))
DAYS = {
    "2026-11-01": a_day({"big.example": 500, "mid.example": 90, "tiny.example": 3}, QUICK, []),
    "2026-11-02": a_day({"big.example": 400, "mid.example": 80, "tiny.example": 20}, QUICK, []),
    "2026-11-03": a_day({"tiny.example": 2}, Spread(times={90: 2}, tries=Tries(took={3: 2})), []),
}


def test_of_a_month_the_shown_domains_are_told() -> None:
    assert {one.name: one.accepted for one in told(DAYS).groups} == {
        "big.example": 900,
        "mid.example": 80,
        "tiny.example": 20,
        "others": 93,
    }


def test_a_day_with_next_to_nothing_is_not_there() -> None:
    found = told({"2026-11-03": DAYS["2026-11-03"]})
    (place,) = found.places
    assert place.counts is None
    assert (found.groups, found.whole.days, found.whole.times) == ([], 0, NO_TIMES)


def test_nothing_but_how_many_were_accepted_is_told_of_groups() -> None:
    found = told({"2026-11-01": DAYS["2026-11-01"]})
    assert all((one.delivered, one.failed, one.worst_p95) == (None,) * 3 for one in found.groups)
    assert (found.reasons, found.buckets, found.unusual) == ({}, {}, [])
    assert found.places[0].reasons == {}
    assert found.whole.times.p95 is not None
    assert told(DAYS).hours == []


def test_how_many_attempts_messages_took_is_told_where_the_rest_hides_itself() -> None:
    """Of 593 messages 573 have ended: 20 more have not, so there is nothing to be subtracted."""
    found = told({"2026-11-01": DAYS["2026-11-01"]}).attempts
    assert found is not None
    steps = {STEPS[n]: counts for n, counts in enumerate(found.messages) if counts}
    assert steps == {1: [540, 0], 2: [20, 0], 3: [13, 0]}
    nearly = Spread(tries=Tries(delivered={8: 80, 12: 10}, failed={12: 5}))
    found = told({"2026-11-01": a_day({"a.example": 100, "b.example": 0}, nearly, [])}).attempts
    assert found is not None
    assert found.messages[1:3] == [[80, 0], []], "5 that have not ended, and the smallest of others"
    assert step_of(12) == 2


def test_what_was_usual_on_days_with_few_is_not_told() -> None:
    day = "2026-11-01"
    odd = [
        Unusual(day, "", "", measure, 9.0, f"{measure} {value} {usual}", value, usual)
        for measure, value, usual in (
            ("accepted", 593.0, 3.0),
            ("accepted", 593.0, 1_200.0),
            ("failed", 4.0, 80.0),
            ("delivery_p95", 5.0, 2.0),
        )
    ]
    days = {day: DAYS[day]}
    full = msgspec.structs.replace(document(days), unusual=odd)
    found = for_others(full, days, FEWEST).unusual
    assert [one.words for one in found] == ["accepted 593.0 1200.0", "delivery_p95 5.0 2.0"]


def test_of_few_messages_a_day_nothing_is_foreseen() -> None:
    for level, number in ((9.0, 0), (10.0, 2)):
        volume = Foreseen("volume", None, level, None, None, None, "words")
        rate = Foreseen("rate", 2.0, 0.1, None, None, None, "words")
        full = msgspec.structs.replace(document(DAYS), foreseen=[volume, rate])
        assert len(for_others(full, DAYS, FEWEST).foreseen) == number
