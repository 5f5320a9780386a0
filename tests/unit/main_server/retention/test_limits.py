"""Clocks that both jumped: the last run knew what day it was. The lake doesn't, once the pipeline
has gone by them."""

from datetime import date, datetime, timedelta

import pytest

from main_server.retention.limits import objections, out_of_step
from main_server.retention.plan import Part, Plan
from main_server.retention.settings import Limits
from main_server.tenants.policy import Policies

NOW = datetime(2026, 11, 19, 3)
TODAY = NOW.date()


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(days=1), None),
        (timedelta(days=4, hours=2), None),
        (timedelta(days=5), "a clock has jumped, or nights are missing"),
        (timedelta(days=21), "Today is 2026-11-19, and the last run was on 2026-10-29"),
        (timedelta(minutes=-4), None),
        (timedelta(minutes=-6), "a clock was ahead then, or is behind"),
        (timedelta(days=-20), "the last run was at 2026-12-09 03:00"),
    ],
)
def test_a_last_run_that_was_not_about_last_night_is_doubted(
    ago: timedelta, words: str | None
) -> None:
    said = out_of_step(NOW - ago, NOW, Limits())
    assert len(said) == (1 if words else 0)
    assert all(words and words in one for one in said)


def test_a_first_run_has_none_before_it() -> None:
    assert out_of_step(None, NOW, Limits()) == []


@pytest.mark.parametrize(("nights", "doubted"), [(1, False), (4, False), (5, True), (25, True)])
def test_a_lake_that_has_not_the_last_nights_is_doubted(nights: int, doubted: bool) -> None:
    said = objections(plan_of(TODAY - timedelta(days=nights)), NOBODY, None, Limits())
    assert bool(said) is doubted


def test_a_code_is_good_for_its_day_even_where_nothing_would_go() -> None:
    codes = {plan_of(TODAY, today=TODAY + timedelta(days=n), parts=0).code for n in range(3)}
    assert len(codes) == 3
    assert plan_of(TODAY).code == plan_of(TODAY).code


NOBODY = Policies({}, {})


def plan_of(last_published: date, *, today: date = TODAY, parts: int = 1) -> Plan:
    part = Part("example.com:a", TODAY - timedelta(days=31), {"delivered": 1}, 1, sealed=True)
    return Plan(today, [part] * parts, [], [], 700, 100, last_published, [])
