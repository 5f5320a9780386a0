"""I13: a run that is killed at any step, and run again, leaves what a run that was left alone does.

Here the step raises what nothing catches, and the connection is closed, as the kernel would do it;
a process that is killed indeed is in test_command.py.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analytics import lake, nightly, publish
from analytics.ledger import repository
from tests.integration.analytics.conftest import Ledger, Nights
from tests.integration.analytics.days import SEVENTH, Message, at, night_after
from tests.integration.analytics.test_nightly import everything

BEFORE_PUBLISHING = [
    (repository, "begin_run", "before"),
    (lake, "remove", "before"),
    (lake, "write", "half-way"),
    (lake, "write", "after"),
    (lake, "write_reports", "after"),
    (repository, "put_manifest", "after"),
    (repository, "replace_report", "after"),
]
AFTERWARDS = [
    (publish, "publish", "after"),
    (repository, "end_run", "before"),
]


class Killed(BaseException):
    """Nothing but the end of the process."""


CHANGES = Message(at(SEVENTH, 9), "queued", attempts=0, random=b"a" * 9)
STAYS = Message(at(SEVENTH, 10), random=b"b" * 9)
COMES = Message(at(SEVENTH, 23), domain="late.example", random=b"c" * 9)
OLD = "2026-09-01"
"""A day of which an earlier run has left a folder that no manifest names."""
_alone: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("where", "step", "when"),
    BEFORE_PUBLISHING + AFTERWARDS,
    ids=lambda one: getattr(one, "__name__", one),
)
def test_killed_and_run_again(
    where: Any, step: str, when: str, nights: Nights, ledger: Ledger, monkeypatch: Any
) -> None:
    expected = left_alone(nights, ledger)
    ledger.put(CHANGES, STAYS)
    nights.play(night_after(SEVENTH))
    published = everything(ledger), nights.messages()
    change(ledger)
    ledger.ask_to(
        f"INSERT INTO lake_folders VALUES ('{OLD}', 'nobodys', '2026-09-01', NULL, 'reports')"
    )

    with monkeypatch.context() as patched:
        kill_at(patched, where, step, when, ledger)
        with pytest.raises(Killed):
            nights.play(night_after(SEVENTH, hour=4))
    if (where, step, when) in BEFORE_PUBLISHING:
        assert nights.messages() == published[1]
        assert selected(ledger) == {**published[0], "messages": None}

    nights.play(night_after(SEVENTH, hour=5))
    assert (everything(ledger), nights.messages()) == expected
    states = [row["state"] for row in ledger.rows("lake_runs")]
    assert "running" not in states
    assert states.count("interrupted") == (0 if step == "begin_run" else 1)
    assert [r for r in ledger.rows("lake_folders") if r["run_id"] == "nobodys"] == []


def left_alone(nights: Nights, ledger: Ledger) -> Any:
    """What two runs leave that nobody kills. The messages are the same each time, so once."""
    if not _alone:
        ledger.put(CHANGES, STAYS)
        nights.play(night_after(SEVENTH))
        change(ledger)
        nights.play(night_after(SEVENTH, hour=5))
        _alone["left"] = everything(ledger), nights.messages()
        ledger.empty("lake_", "report_", "messages")
    return _alone["left"]


def change(ledger: Ledger) -> None:
    """Between the two runs."""
    ledger.change(CHANGES, status="delivered", delivered_at=CHANGES.row()["created_at"])
    ledger.put(COMES)


def selected(ledger: Ledger) -> dict[str, Any]:
    return {**everything(ledger), "messages": None}


def kill_at(patched: Any, where: Any, step: str, when: str, ledger: Ledger) -> None:
    done: Callable[..., Any] = getattr(where, step)

    def killed(*given: Any, **named: Any) -> Any:
        if when != "before":
            done(*given, **named)
        if when == "half-way":
            lose_half(ledger.folder / "lake")
        raise Killed

    patched.setattr(where, step, killed)
    if where is publish:  # which nightly has by name
        patched.setattr(nightly, step, killed)


def lose_half(folder: Path) -> None:
    """As of a folder that was being written: no mark that it is whole, and not all of its files."""
    newest = max(folder.rglob("run=*"), key=lambda one: one.stat().st_mtime)
    (newest / "_SUCCESS").unlink()
    next(newest.rglob("*.parquet")).unlink()
