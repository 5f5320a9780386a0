"""What the proof asks for beside messages and their keys, what it lets pass, and what a run tells
of one that can't be had."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from main_server.keys import service_keys
from main_server.keys.backup.standing import renew_backup
from main_server.retention import run
from main_server.retention.days import DAY
from main_server.store.database import transact
from tests.integration.main_server.retention.conftest import OLD, OLDER, OLDEST, TODAY, Old
from tests.integration.main_server.retention.test_holds import hold, lift
from tests.integration.main_server.retention.test_limits import set_clock


def ask_to(house: Old, statement: str) -> None:
    transact(house.engine, lambda c: c.execute(text(statement)))


def test_a_sealing_key_that_should_be_dead_is_found_and_its_copy(house: Old) -> None:
    """It opens what lay in Redis, of which there are old files."""
    renew_backup(house.engine, house.masters(), house.place.keys)
    service_keys.replace(house.engine, house.masters(), "sealing")
    age = "created_at = created_at - INTERVAL 9 DAY, retired_at = retired_at - INTERVAL 8 DAY"
    (old,) = (key for key in house.service_keys() if key.retired_at)
    assert house.prove().left == [], "it has days to live"
    ask_to(house, f"UPDATE gatepost_keys.service_keys SET {age} WHERE retired_at IS NOT NULL")
    (left,) = house.prove().left
    assert left.startswith(f"sealing key {old.kid.hex()}: should have been destroyed")
    assert [one.kid for one in service_keys.destroy_dead(house.engine)] == [old.kid]
    assert house.prove().left == [], "the main server is about to write the backup anew"
    ask_to(house, "UPDATE destroyed_keys SET destroyed_at = destroyed_at - INTERVAL 2 HOUR")
    assert house.prove().left == [f"sealing key {old.kid.hex()}: it is in the key backup"]
    renew_backup(house.engine, house.masters(), house.place.keys)
    assert house.prove().left == []


def test_attempts_without_a_message_are_found_behind_what_is_kept(house: Old) -> None:
    """They came late for a day that no run looks at again, and older messages are on hold."""
    (kept,) = house.sent(house.b, OLDEST)
    house.attempt(kept)
    hold(house, house.b)
    house.attempt(house.envelope(OLDER))
    assert house.prove().left == [f"attempts of {OLDER}, of which there is no message"]
    done = house.run()
    assert (done.proof.left, house.count("attempts")) == ([], 1)


@pytest.mark.parametrize("sealed", [True, False])
def test_what_waits_and_was_never_redriven_is_a_fault(house: Old, sealed: bool) -> None:
    """A message ends by its expiry (I5). It stays, or nobody would ever find out."""
    stuck, redriven = house.sent(house.a, OLD, 2)
    for one, generation in ((stuck, 0), (redriven, 1)):
        waits = {"status": "queued", "delivered_at": None, "generation": generation}
        house.a.force(one.message_id, **waits)
    if not sealed:
        house.unseal(OLD)
    done = house.run()
    why = "" if sealed else " (the day was never sealed)"
    pair = f"{house.a.client_id} {OLD}"
    assert done.proof.left == [f"{pair}: 1 messages that have never ended{why}"]
    assert done.proof.kept == [f"{pair}: 1 redriven, and not at their end"]
    assert (house.left(house.a), house.keys_of(house.a)) == ({OLD: 2}, [OLD])


def test_it_says_where_it_has_seen_no_backup_of_the_keys(house: Old) -> None:
    (said,) = house.prove().unseen
    assert said == f"no key backup was looked at: there is no {house.place.keys.backup_file}"
    assert house.run().proof.unseen == [], "it has written one"
    keys = house.place.keys.model_copy(update={"backup_file": None})
    (said,) = house.run(keys=keys).proof.unseen
    assert "keys.backup_file" in said


def test_a_hold_that_is_lifted_during_a_run_is_the_next_ones(
    house: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.sent(house.a, OLD)
    one = hold(house, house.a)
    with monkeypatch.context() as patch:
        before(patch, "renew_backup", lambda: lift(house, one))
        done = house.run()
    assert (done.run.state, done.proof.left) == ("done", [])
    assert done.proof.kept == [
        f"{house.a.client_id} was on legal hold: what it kept goes with the next run"
    ]
    assert house.run().run.row_count == 1


def before(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], None]) -> None:
    """Something happens while a run is at that point."""
    real = getattr(run, name)

    def both(*given: Any) -> Any:
        act()
        return real(*given)

    monkeypatch.setattr(run, name, both)


def test_a_proof_that_cant_be_had_ends_the_run_with_what_it_did(
    house: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.sent(house.a, OLD)

    def fail() -> None:
        raise OSError("the file of the backup")

    before(monkeypatch, "prove", fail)
    with pytest.raises(OSError, match="backup"):
        house.run()
    (row,) = house.rows_of("retention_runs")
    assert (row["state"], row["reason"], row["row_count"]) == ("failed", "OSError", 1)
    assert row["ended_at"] is not None
    ((_, said),) = house.audited("retention.applied")
    assert (said["state"], said["messages"], said["keys"]) == ("failed", 1, 1)


def test_about_midnight_a_run_is_of_the_day_that_its_plan_is_of(house: Old) -> None:
    """Of two clocks the one that is behind; the proof of a later hour asks by the same day."""
    midnight = datetime.combine(TODAY, time())
    set_clock(house, midnight - timedelta(minutes=2))
    done = house.run(now=midnight + timedelta(minutes=1))
    set_clock(house, None)
    assert done.plan.today == TODAY - DAY
    assert done.run.started_at.date() == done.plan.today
