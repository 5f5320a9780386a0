"""Killed anywhere and run again it leaves what one run would have left (I13); and what it did is
told, even so."""

from typing import Any

import pytest

from main_server.keys.backup.standing import renew_backup
from main_server.retention import deleting, ending, run, telling
from main_server.retention import partition_repository as partitions
from main_server.store.database import transact
from tests.integration.main_server.keys.conftest import Cut, Cuts
from tests.integration.main_server.retention.conftest import OLD, OLDER, RECENT, Old
from tests.integration.main_server.retention.test_holds import hold

PLACES: list[tuple[Any, str, int]] = [
    (run, "transact", 6),
    (deleting, "transact", 5),
    (ending, "transact", 2),
    (partitions, "drop", 4),
    (partitions, "lock_tables", 2),
    (run, "renew_backup", 1),
    (run, "prove", 1),
    (telling, "transact", 1),
]
CASES = [
    pytest.param(module, name, calls, id=f"{module.__name__}.{name} {calls}")
    for module, name, most in PLACES
    for calls in range(most)
]


@pytest.mark.parametrize(("module", "name", "calls"), CASES)
def test_killed_and_run_again(
    house: Old, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, calls: int
) -> None:
    """A day that goes with its partition, one of which something is held, and one that stays."""
    (kept,) = house.sent(house.a, OLD)
    hold(house, house.a)
    house.sent(house.b, OLD)
    (gone,) = house.sent(house.b, OLDER)
    house.attempt(gone)
    house.sent(house.b, RECENT)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, Cuts(getattr(module, name), calls, after=True))
        with pytest.raises(Cut):
            killed(house)
    again = house.run()
    assert again.run.state == "done"
    assert (house.left(house.a), house.left(house.b)) == ({OLD: 1}, {RECENT: 1})
    assert (house.keys_of(house.a), house.keys_of(house.b)) == ([OLD], [RECENT])
    assert OLDER not in house.partitions()
    assert OLDER not in house.partitions("attempts")
    assert house.count("attempts") == 0
    assert house.prove().left == []
    told = [said for _, said in house.audited("retention.applied")]
    assert sum(one["messages"] for one in told) == 2
    assert sum(one["keys"] for one in told) == 2
    assert {row["state"] for row in house.rows_of("retention_runs")} <= {"done", "interrupted"}
    house.assert_readable(kept)


def killed(house: Old) -> None:
    """As a process is that gets SIGKILL: it writes nothing more."""
    with pytest.MonkeyPatch.context() as patch:

        def end(engine: Any, ended: Any) -> Any:
            if ended.state == "failed":
                raise Cut
            return telling.end_run(engine, ended)

        patch.setattr(run, "end_run", end)
        house.run()


def test_a_run_that_was_killed_is_told_of_by_the_next(house: Old) -> None:
    house.sent(house.b, OLD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "renew_backup", Cuts(renew_backup, 0, after=False))
        with pytest.raises(Cut):
            killed(house)
    (begun,) = house.rows_of("retention_runs")
    assert begun["state"] == "running"
    house.run()
    (first, _) = [said for _, said in house.audited("retention.applied")]
    assert (first["state"], first["messages"], first["keys"]) == ("interrupted", 1, 1)
    assert transact(house.engine, lambda c: len(partitions.list_partitions(c))) > 0
