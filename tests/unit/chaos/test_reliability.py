"""The page is made of what the runs left; what wasn't run isn't claimed."""

import json
from pathlib import Path
from typing import Any

from tests.chaos.checker.promises import PROMISES
from tests.chaos.reliability import HOW, render
from tests.chaos.report import write_report
from tests.chaos.report.results import read_results
from tests.unit.chaos.scenes import Scene


def full_run(folder: Path, name: str, seconds: float, **run: Any) -> None:
    scene = Scene(folder / name)
    scene.folder.mkdir()
    scene.accepted("first", 1)
    scene.delivered("first", 1)
    scene.fault("kill", "worker-1", 3.0, 4.0)
    scene.run = {"seed": name[-1], "seconds": seconds, **run}
    scene.judge()
    write_report(scene.folder)


def test_where_nothing_was_run_nothing_is_claimed(tmp_path: Path) -> None:
    page = render(read_results(tmp_path))
    assert "No full run has been made yet." in page
    assert "held" not in page
    assert "Recovery" not in page
    assert "Teeth\n" not in page


def test_the_last_three_of_the_longest_runs_stand_for_it(tmp_path: Path) -> None:
    for number in range(1, 6):
        full_run(tmp_path, f"1118-10000{number}-chaos-{number}", 600.0)
    full_run(tmp_path, "1118-110000-chaos-9", 120.0)
    page = render(read_results(tmp_path))
    rows = [line for line in page.splitlines() if "| 600 |" in line]
    assert [row.split()[1] for row in rows] == ["3", "4", "5"]
    assert all("| 1 | 0 | 0 | 0 | 0 |" in row for row in rows)
    assert "kill 3." in page
    assert page.count("| held, by ") + page.count("| not shown, by 0 ") == len(PROMISES)
    assert "| held, by 1 ids that clients were told |" in page


def test_every_promise_says_how_it_is_tested() -> None:
    assert list(HOW) == list(PROMISES)


def test_the_other_runs_have_their_tables(tmp_path: Path) -> None:
    full_run(tmp_path, "1118-100000-powercuts-1", 0.0)
    recovery = {"fault": "kill", "target": "redis", "most": 5.0}
    recovery |= {"accepting": 1.0, "delivering": 2.25, "unavailable": 0.5}
    outages = {"mariadb": {"accepted": 0.99951, "exposed": 1234, "registered_after": 2.04}}
    bite: dict[str, Any] = {
        "scene": "power_cut",
        "bug": "No flush.",
        "promise": "I1",
        "broken": ["I1"],
        "why": "",
    }
    clean: dict[str, Any] = bite | {"bug": None, "promise": None, "broken": []}
    bites = [one | {"as_wanted": True, "seconds": 9.0} for one in (bite, clean)]
    for name, told in (
        ("1118-100000-recovery-1/recovery.json", [recovery]),
        ("1118-100000-outages-1/outages.json", outages),
        ("teeth.json", {"commit": "abc", "bites": bites}),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(told))
    page = render(read_results(tmp_path))
    assert "| kill | redis | 1.0 | 2.2 | 0.5 | 5.0 |" in page
    assert "| mariadb | 99.951% | 1,234 | 2.0 s |" in page
    assert "1 power cuts in a row" in page
    assert "1 of 1 turned the checker red" in page
    assert "| No flush. | I1 | power cut | I1 |" in page
