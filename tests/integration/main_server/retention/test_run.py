"""What retention takes away, and what it leaves; with a database user of its own."""

from datetime import date
from time import monotonic

import pytest
from sqlalchemy import Connection, text

from gatepost.wire.contract import Result
from gatepost.wire.envelope import Envelope
from main_server.keys import repository
from main_server.keys.backup.standing import renew_backup
from main_server.retention.days import DAY
from main_server.store.database import transact
from tests.integration.main_server.keys.conftest import meanwhile
from tests.integration.main_server.retention.conftest import (
    OLD,
    OLDER,
    OLDEST,
    RECENT,
    TODAY,
    Old,
)


def test_what_is_past_its_day_goes_and_nothing_else(house: Old) -> None:
    for day, count in ((OLDER, 2), (OLD, 3), (RECENT, 4)):
        house.sent(house.a, day, count)
    house.sent(house.b, OLD, 1)
    done = house.run()
    assert (done.run.state, done.run.row_count, done.run.key_count) == ("done", 6, 3)
    assert house.left(house.a) == {RECENT: 4}
    assert house.left(house.b) == {}
    assert house.keys_of(house.a) == [RECENT]
    assert house.keys_of(house.b) == []
    assert done.proof.left == []


def test_a_day_of_which_nothing_stays_goes_with_its_partition(house: Old) -> None:
    (kept,) = house.sent(house.a, RECENT)
    (gone,) = house.sent(house.a, OLD)
    for one in (kept, gone):
        house.attempt(one)
    before = house.partitions()
    done = house.run()
    assert house.partitions() == [day for day in before if day > OLD]
    assert house.partitions("attempts") == house.partitions()
    assert house.count("attempts") == 1
    assert done.run.partition_count == 1, "the empty ones had nothing in them"
    house.assert_readable(kept)


def test_run_again_it_changes_nothing(house: Old) -> None:
    house.sent(house.a, OLD)
    house.sent(house.a, RECENT)
    house.run()
    before = house.all_rows(), house.data_keys(), house.partitions()
    again = house.run()
    assert (again.run.row_count, again.run.key_count, again.run.partition_count) == (0, 0, 0)
    assert (house.all_rows(), house.data_keys(), house.partitions()) == before


def test_a_client_and_a_domain_may_have_days_of_their_own(house: Old) -> None:
    """The domain keeps for 32 days, of which a client wants 10 only."""
    set_days(house, 32, {house.a.client_id: 10})
    for room in (house.a, house.b):
        for day in (OLDEST, OLDER, OLD, TODAY - 11 * DAY, TODAY - 10 * DAY):
            house.sent(room, day)
    house.run()
    assert house.left(house.a) == {TODAY - 10 * DAY: 1}
    assert list(house.left(house.b)) == [OLDER, OLD, TODAY - 11 * DAY, TODAY - 10 * DAY]
    assert house.keys_of(house.a) == [TODAY - 10 * DAY]


def set_days(house: Old, of_domain: int, of_clients: dict[str, int]) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text("UPDATE domains SET retention_days = :d"), {"d": of_domain})
        for client_id, days in of_clients.items():
            connection.execute(
                text("UPDATE clients SET retention_days = :d WHERE client_id = :c"),
                {"d": days, "c": client_id},
            )

    transact(house.engine, work)


def test_where_something_stays_rows_go_with_all_that_belongs_to_them(house: Old) -> None:
    set_days(house, 30, {house.b.client_id: 60})
    (gone,) = house.sent(house.a, OLD)
    (stays,) = house.sent(house.b, OLD)
    for room, one in ((house.a, gone), (house.b, stays)):
        house.attempt(one)
        house.claim(room, one.message_id)
    done = house.run()
    assert house.left(house.b) == {OLD: 1}
    assert house.left(house.a) == {}
    assert (house.count("attempts"), house.count("idempotency")) == (1, 1)
    assert done.run.partition_count == 0
    assert OLD in house.partitions()
    house.assert_readable(stays)


def test_what_waits_stays_and_so_does_its_key(house: Old) -> None:
    """A redriven message; and what has ended beside it goes."""
    waits, _ended = house.sent(house.a, OLD, 2)
    house.a.force(waits.message_id, status="queued", delivered_at=None, generation=1)
    house.attempt(waits)
    done = house.run()
    assert house.left(house.a) == {OLD: 1}
    assert house.keys_of(house.a) == [OLD]
    assert done.run.row_count == 1
    assert house.count("attempts") == 1
    assert done.proof.left == []
    assert done.proof.kept
    house.a.force(waits.message_id, status="delivered")
    house.run()
    assert (house.left(house.a), house.keys_of(house.a)) == ({}, [])


def test_a_day_that_is_not_sealed_stays_and_the_proof_says_so(house: Old) -> None:
    house.sent(house.a, OLD)
    house.unseal(OLD)
    assert (house.foresee().plan.messages, house.foresee().plan.keys) == (0, 0)
    done = house.run()
    assert house.left(house.a) == {OLD: 1}
    assert house.keys_of(house.a) == [OLD]
    assert done.run.state == "failed"
    assert any("never sealed" in one for one in done.proof.left)


@pytest.mark.parametrize("day", [OLD, TODAY - 400 * DAY], ids=["after its day", "long after"])
def test_attempts_of_messages_that_are_gone_go_as_well(house: Old, day: date) -> None:
    """A settlement came late for a row that was gone."""
    house.sent(house.a, OLD)
    house.sent(house.a, RECENT)
    house.attempt(house.envelope(day))
    done = house.run()
    assert house.count("attempts") == 0
    assert done.proof.left == []


def test_names_of_partitions_are_flushed_when_one_was_dropped(
    house: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MariaDB doesn't (decision 0021)."""
    flushed: list[list[date]] = []
    monkeypatch.setattr(
        "main_server.retention.whole.sync", lambda: flushed.append(house.partitions())
    )
    house.sent(house.a, OLD)
    house.run()
    assert flushed[-1] == house.partitions()


def test_what_ended_without_a_body_goes_too(house: Old) -> None:
    """Of such messages there may be no key: duplicates, and what had expired when it came."""
    late = house.envelope(OLD)
    house.room.register(late, accepted=True)
    assert house.room.status(late.message_id)[:2] == ("failed", "expired")
    transact(house.engine, lambda c: repository.delete_data_key(c, house.data_keys()[0]))
    assert house.run().run.row_count == 1
    assert house.prove().left == []


def test_what_comes_late_into_a_day_that_is_gone_goes_the_next_night(house: Old) -> None:
    """Its partition was dropped, so it lies in that of a later day."""
    house.sent(house.a, OLD)
    house.sent(house.a, RECENT)
    house.run()
    late = house.envelope(OLD)
    house.room.register(late, accepted=True)
    assert house.room.status(late.message_id)[0] == "failed"
    assert house.data_keys()[0].day == RECENT, "a day that was erased gets no key again"
    assert house.prove().left
    done = house.run()
    assert (done.run.row_count, done.proof.left) == (1, [])
    assert house.left(house.a) == {RECENT: 1}


def test_the_proof_finds_a_key_in_a_backup_that_was_not_renewed(
    house: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.sent(house.a, OLD)
    renew_backup(house.engine, house.masters(), house.place.keys)
    monkeypatch.setattr("main_server.retention.run.renew_backup", lambda *_: None)
    done = house.run()
    assert done.run.state == "failed"
    assert done.proof.left == [f"{house.a.client_id} {OLD}: its key is in the key backup"]
    monkeypatch.undo()
    house.run()
    assert house.prove().left == []


def test_the_user_that_deletes_reads_no_body_and_finds_no_number(house: Old) -> None:
    for column in ("encrypted_body", "sender_number_hashed", "key_id"):
        with pytest.raises(Exception, match="denied"), house.deleting.begin() as connection:
            connection.execute(text(f"SELECT {column} FROM messages"))
    for statement in ("UPDATE messages SET status = 'queued'", "DELETE FROM audit_log"):
        with pytest.raises(Exception, match="denied"), house.deleting.begin() as connection:
            connection.execute(text(statement))


def test_senders_and_workers_get_on_while_it_runs(house: Old) -> None:
    """Whole partitions and rows: whoever comes at that moment waits for a second at most."""
    set_days(house, 30, {house.b.client_id: 60})
    house.sent(house.b, OLD)
    for day in (OLDER, OLD):
        house.sent(house.a, day, 40)
    sent: list[Envelope] = []
    took: list[float] = []

    def deliver(_: int) -> None:
        envelope, begun = house.b.envelope(), monotonic()
        assert house.b.deliver(envelope)[0].result is Result.DELIVERED
        took.append(monotonic() - begun)
        sent.append(envelope)

    with meanwhile(deliver):
        done = house.run()
    assert (done.run.state, done.run.row_count, done.run.partition_count) == ("done", 80, 1)
    assert max(took) < 2
    house.assert_readable(*sent)


def test_runs_of_long_ago_are_forgotten(house: Old) -> None:
    house.sent(house.a, OLD)
    house.run()
    ages = (("retention_runs", "started_at"), ("retention_runs", "ended_at"))
    with house.engine.begin() as connection:
        for table, column in ages:
            connection.execute(text(f"UPDATE {table} SET {column} = {column} - INTERVAL 401 DAY"))
    latest = house.run(house.foresee().plan.code).run.run_id
    assert [row["run_id"] for row in house.rows_of("retention_runs")] == [latest]
    assert {row["run_id"] for row in house.rows_of("retention_counts")} <= {latest}
