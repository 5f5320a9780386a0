"""The section on waiting and attempts: what it shows of which days."""

import msgspec
import pytest

from gatepost.insight.figures import NOTHING, Figures, Spread, Tries, figures_of, together
from gatepost.insight.said import STEPS, attempts_in, step_of
from gatepost.insight.shapes import Attempts
from gatepost.insight.waiting import Waiting, waiting_of
from tests.unit.gatepost.reports.test_buckets import bucket
from tests.unit.portal.report_cases import WHOLE, reports

TRIES = Tries(
    first={bucket(4): 9_900, bucket(90_000): 100},
    again={bucket(30_000): 12},
    delivered={bucket(1): 9_000, bucket(2): 700, bucket(11): 1},
    failed={bucket(0): 4, bucket(7): 295},
    took={bucket(10_000): 12},
)


def section(*days: Figures) -> Waiting:
    period = msgspec.structs.replace(WHOLE["whole"], days=len(days))
    return waiting_of(reports(whole=period, attempts=shown(*days)))


def shown(*days: Figures) -> Attempts | None:
    return attempts_in(days, together(days))


def test_it_tells_of_waits_of_attempts_and_of_how_long_these_took() -> None:
    found = section(Figures(spread=Spread(tries=TRIES)))
    cards = {one.name: (one.value, one.more) for one in found.cards}
    assert cards["Delivered at once"] == ("90 %", "at the first attempt, of what ended")
    value, more = cards["Waited for the first attempt"]
    assert value.endswith(" ms")
    assert more.startswith("19 of 20; half within ")
    assert cards["Waited for another attempt"][0].endswith(" s")
    attempts, waits, took = found.charts
    assert attempts.table.rows == [
        ["0", "0", "4"],
        ["1", "9,000", "0"],
        ["2", "700", "0"],
        ["3", "0", "0"],
        ["4", "0", "0"],
        ["5–9", "0", "295"],
        ["10+", "1", "0"],
    ]
    assert [one.label for one in attempts.places] == ["0", "1", "2", "3", "4", "5–9", "10+"]
    assert waits.table.head == ["Time", "for the first attempt", "for another one"]
    assert [row[1:] for row in waits.table.rows if row[1:] != ["0", "0"]] == [
        ["9,900", "0"],
        ["0", "12"],
        ["100", "0"],
    ]
    assert took.table.rows == [["up to 16 s", "12"]]
    assert found.unknown == 0


@pytest.mark.parametrize("number", range(15))
def test_each_number_of_attempts_is_in_its_step(number: int) -> None:
    step = step_of(bucket(number))
    after = STEPS[step + 1] if step + 1 < len(STEPS) else number + 1
    assert STEPS[step] <= number < after


def test_days_of_an_earlier_release_are_told_of_and_not_taken_for_quiet_ones() -> None:
    before = figures_of([1, 1, 0, 0, 0, 0, 0], '{"hours":{},"reasons":{},"times":{"40":1}}')
    whole = Figures(spread=Spread(tries=TRIES))
    some = section(before, whole, NOTHING)
    assert (len(some.charts), some.unknown) == (3, 1)
    assert section(before, before) == Waiting([], [], 2)
    assert section(NOTHING, NOTHING) == Waiting([], [], 0)


def test_what_is_not_known_of_a_wait_is_not_said_to_be_nothing() -> None:
    found = section(Figures(spread=Spread(tries=Tries(delivered={bucket(1): 5}))))
    cards = {one.name: (one.value, one.more) for one in found.cards}
    assert cards["Failed attempts took"] == ("–", "none")
    assert cards["Delivered at once"][0] == "100 %"
