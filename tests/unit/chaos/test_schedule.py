"""What is planned is played in order, and what can't be done stops nothing."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.chaos.faults.fault import Fault
from tests.chaos.journal import Journal
from tests.chaos.schedule import Planned, Schedule

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


def play(folder: Path, plan: list[Planned]) -> tuple[int, list[dict[str, Any]]]:
    ACTS.clear()
    journal = Journal(folder)
    site: Any = SimpleNamespace(journal=journal)
    done = Schedule(site, plan).play()
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
