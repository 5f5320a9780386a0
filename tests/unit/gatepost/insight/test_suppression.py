"""Small groups are neither shown nor to be found by subtracting."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatepost.insight.shapes import Counts, OfPlace, Reports, Times
from gatepost.insight.suppression import for_others, visible
from tests.unit.portal.report_cases import reports

COUNTS = st.dictionaries(st.integers(0, 30), st.integers(0, 40), max_size=12)
FEWEST = 10


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


DAYS = {
    "2026-11-01": {"big.example": 500, "mid.example": 90, "tiny.example": 3},
    "2026-11-02": {"big.example": 400, "mid.example": 80, "tiny.example": 20},
    "2026-11-03": {"tiny.example": 2},
}


def month() -> Reports:
    return _of(*DAYS)


def _of(*days: str) -> Reports:
    times = Times(1.0, 2.0, 3.0)
    places = [
        OfPlace(day, Counts(sum(DAYS[day].values()), 1, 1, 1, 1, 1, 1), times, {"expired": 1})
        for day in days
    ]
    return reports(domain=None, grouped_by="domain", places=places, groups=[], more_groups=0)


def open_(found: Reports) -> Any:
    days = {one.place: DAYS[one.place] for one in found.places}
    return for_others(found, days, FEWEST)


def test_the_month_is_what_is_shown_of_its_days() -> None:
    """Else its page, less those of the days, would tell what these hide."""
    of_days = [open_(_of(day)) for day in DAYS]
    whole = open_(month())
    for name in ("big.example", "mid.example", "tiny.example"):
        parts = [one.accepted for day in of_days for one in day.groups if one.name == name]
        assert sum(parts) == sum(one.accepted for one in whole.groups if one.name == name)
    assert whole.whole.counts.accepted == sum(one.whole.counts.accepted for one in of_days)
    assert {one.name: one.accepted for one in whole.groups} == {
        "big.example": 900,
        "mid.example": 80,
        "tiny.example": 20,
        "others": 93,
    }


def test_a_day_with_next_to_nothing_is_not_there() -> None:
    (place,) = open_(_of("2026-11-03")).places
    assert place.counts is None
    assert open_(_of("2026-11-03")).groups == []


def test_nothing_but_how_many_were_accepted_is_told_of_groups() -> None:
    found = open_(_of("2026-11-01"))
    assert all((one.delivered, one.failed, one.worst_p95) == (None,) * 3 for one in found.groups)
    assert (found.reasons, found.buckets, found.unusual) == ({}, {}, [])
    assert found.places[0].reasons == {}
    assert open_(month()).hours == []
