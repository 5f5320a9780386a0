"""What is planned is played in order, and what can't be done stops nothing."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.chaos.faults.fault import Fault
from tests.chaos.journal import Journal
from tests.chaos.schedule import Planned, Schedule
from tests.heard import wait_until

ACTS: list[str] = []


class Noted(Fault):
    name = "noted"

    def begin(self, _site: Any) -> None:
        ACTS.append(f"begin {self.target}")

    def end(self, _site: Any) -> None:
        ACTS.append(f"end {self.target}")


class Impossible(Noted):
    name = "impossible"

    def begin(self, _site: Any) -> None:
        raise OSError("no such thing")


class Destroyer(Noted):
    name = "destroyer"
    destroys = True


class Reluctant(Noted):
    """Ends at the third try."""

    name = "reluctant"
    tries = 0

    def end(self, _site: Any) -> None:
        self.tries += 1
        if self.tries < 3:
            raise OSError("the store is away")
        super().end(_site)


class Waiting(Noted):
    """Begins once another has ended, as a trigger does that a frozen server's lock holds up."""

    name = "waiting"

    def begin(self, _site: Any) -> None:
        wait_until(lambda: "end frozen" in ACTS)
        super().begin(_site)


class Endless(Noted):
    name = "endless"

    def end(self, _site: Any) -> None:
        raise OSError("never")


def play(folder: Path, plan: list[Planned]) -> tuple[int, list[dict[str, Any]]]:
    ACTS.clear()
    journal = Journal(folder)
    site: Any = SimpleNamespace(journal=journal)
    done = Schedule(site, plan, patience=0.6).play()
    journal.close()
    lines = (folder / "faults.jsonl").read_text().splitlines()
    return done, [json.loads(line) for line in lines]


def test_overlapping_faults_begin_and_end_at_their_times(tmp_path: Path) -> None:
    plan = [Planned(0.0, Noted("long", 0.2)), Planned(0.05, Noted("short", 0.05))]
    done, lines = play(tmp_path, plan)
    assert done == 2
    assert ACTS == ["begin long", "begin short", "end short", "end long"]
    assert [(line["type"], line["target"]) for line in lines] == [
        ("begin", "long"),
        ("begin", "short"),
        ("end", "short"),
        ("end", "long"),
    ]


def test_what_fails_is_noted_and_the_rest_goes_on(tmp_path: Path) -> None:
    plan = [Planned(0.0, Impossible("x", 0.0)), Planned(0.01, Noted("y", 0.0))]
    done, lines = play(tmp_path, plan)
    assert done == 1
    assert ACTS == ["end x", "begin y", "end y"]
    assert len(lines) == 4
    assert "no such thing" in (tmp_path / "notes.jsonl").read_text()


def test_the_journal_says_what_was_destroyed(tmp_path: Path) -> None:
    _, [begin, end] = play(tmp_path, [Planned(0.0, Destroyer("redis", 0.0))])
    assert begin["destroyed"] is True
    assert "destroyed" not in end


def test_what_cannot_be_ended_at_once_is_tried_again_and_each_try_is_noted(tmp_path: Path) -> None:
    done, [begin, end] = play(tmp_path, [Planned(0.0, Reluctant("x", 0.0))])
    assert done == 1
    assert (begin["type"], end["type"]) == ("begin", "end")
    notes = [json.loads(one) for one in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert [(one["what"], one["number"]) for one in notes] == [("end failed", 1), ("end failed", 2)]
    assert "the store is away" in notes[0]["why"]


def test_what_cannot_be_ended_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    plan = [Planned(0.0, Endless("x", 0.0)), Planned(0.01, Noted("y", 0.0))]
    _, lines = play(tmp_path, plan)
    assert ACTS == ["begin x", "begin y", "end y"]
    [undone] = [line for line in lines if line["type"] == "undone"]
    assert (undone["fault"], undone["target"]) == ("endless", "x")
    assert "OSError: never" in undone["why"]


def test_a_fault_that_waits_for_the_end_of_another_holds_up_neither(tmp_path: Path) -> None:
    plan = [Planned(0.0, Noted("frozen", 0.3)), Planned(0.05, Waiting("mariadb", 0.1))]
    done, lines = play(tmp_path, plan)
    assert done == 2
    assert ACTS == ["begin frozen", "end frozen", "begin mariadb", "end mariadb"]
    assert [line["type"] for line in lines] == ["begin", "begin", "end", "end"]


def test_two_that_hold_the_same_never_overlap_however_late_one_is(tmp_path: Path) -> None:
    plan = [
        Planned(0.0, Noted("frozen", 0.3)),
        Planned(0.05, Waiting("redis", 0.1)),
        Planned(0.2, Noted("redis", 0.0)),
    ]
    play(tmp_path, plan)
    assert ACTS[2:] == ["begin redis", "end redis"] * 2
