"""What is doubtful isn't done until somebody has seen it; and who is in the way is waited for."""

from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event, make_url, text

from infra.dev.engines import MariaServer
from main_server.audit.chain import SYSTEM, Entry
from main_server.audit.repository import append
from main_server.keys.alone import alone
from main_server.retention.days import DAY
from main_server.retention.limits import ClockDoubted, Doubtful
from main_server.retention.partition_repository import open_snapshots
from main_server.retention.patience import InTheWay
from main_server.retention.run import LOCK, AnotherRuns
from main_server.store.database import transact
from tests.integration.main_server.conftest import KEYS_SCHEMA, engine_of
from tests.integration.main_server.retention.conftest import OLD, RECENT, TODAY, Old

STRICT = {"few_messages": 0}


def test_the_dry_run_says_what_would_go_and_touches_nothing(house: Old) -> None:
    house.sent(house.a, OLD, 2)
    house.sent(house.b, RECENT)
    before = house.all_rows(), house.data_keys(), house.partitions()
    plan = house.foresee().plan
    ((part),) = plan.parts
    assert (part.client_id, part.day, part.goes, part.keys_go) == (house.a.client_id, OLD, 2, 1)
    assert (plan.messages, plan.keys, plan.messages_in_all) == (2, 1, 3)
    assert [one.last_day for one in plan.whole][-1] == OLD
    assert plan.bytes > 0
    assert (house.all_rows(), house.data_keys(), house.partitions()) == before
    assert (house.count("retention_runs"), house.count("audit_log")) == (0, 0)


def test_too_large_a_part_of_all_is_refused_until_it_is_confirmed(house: Old) -> None:
    house.sent(house.a, OLD, 2)
    house.sent(house.a, RECENT, 2)
    with pytest.raises(Doubtful, match="50 %"):
        house.run(limits=STRICT)
    code = house.foresee(limits=STRICT).plan.code
    house.sent(house.b, OLD)
    with pytest.raises(Doubtful):
        house.run(code, limits=STRICT)
    assert house.left(house.a) == {OLD: 2, RECENT: 2}
    assert house.run(house.foresee().plan.code, limits=STRICT).run.row_count == 3


def test_a_clock_that_has_jumped_takes_nothing(house: Old) -> None:
    house.sent(house.a, OLD)
    for days in (-30, 30):
        with pytest.raises(ClockDoubted):
            house.run(now=house.place.now + timedelta(days=days))
    assert house.left(house.a) == {OLD: 1}


def test_two_clocks_that_have_jumped_together_take_nothing(
    house: Old, retention_server: MariaServer
) -> None:
    """The lake knows what day it was last night."""
    house.sent(house.a, RECENT)
    ahead = house.place.now + timedelta(days=20)
    set_clock(house, ahead)
    with pytest.raises(Doubtful, match="a clock has jumped"):
        house.run(now=ahead)
    set_clock(house, None)
    assert house.left(house.a) == {RECENT: 1}


@pytest.mark.parametrize("due", [True, False], ids=["something due", "nothing due yet"])
def test_two_clocks_that_the_pipeline_ran_by_as_well_take_nothing(house: Old, due: bool) -> None:
    """It has caught up, an hour before: the lake has empty days up to the false yesterday."""
    if due:
        house.sent(house.a, RECENT)
    house.run()
    house.seal(*(TODAY + DAY * n for n in range(22)))
    for days in (20, 21):  # a run that was refused is nothing that a later one is measured by
        ahead = house.place.now + timedelta(days=days)
        set_clock(house, ahead)
        with pytest.raises(Doubtful, match="the last run was on"):
            house.run(now=ahead)
    set_clock(house, None)
    assert house.left(house.a) == ({RECENT: 1} if due else {})
    assert house.run().run.state == "done"


def set_clock(house: Old, moment: Any) -> None:
    """What the ledger takes for now, on connections of this pool."""
    seconds = moment.replace(tzinfo=UTC).timestamp() if moment else "DEFAULT"

    def tell(connection: Any, *_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET timestamp = {seconds}")

    house.deleting.dispose()
    event.listen(house.deleting, "connect", tell)


def test_a_clock_that_was_ahead_once_is_confirmed_once(house: Old) -> None:
    """The runs of then are in the audit log, and in nobody's way."""
    house.sent(house.a, RECENT)
    ahead = house.place.now + timedelta(days=2)
    set_clock(house, ahead)
    early = house.run(now=ahead).run
    assert (early.state, early.row_count) == ("done", 1)
    set_clock(house, None)
    with pytest.raises(Doubtful, match="ahead then"):
        house.run()
    assert house.run(house.foresee().plan.code).run.state == "done"
    assert house.run().run.state == "done"
    assert early.run_id not in {row["run_id"] for row in house.rows_of("retention_runs")}
    assert early.run_id not in {row["run_id"] for row in house.rows_of("retention_counts")}
    assert early.run_id in {said["run"] for _, said in house.audited("retention.applied")}


def test_days_that_are_yet_to_come_in_the_lake_are_in_nobodys_way(house: Old) -> None:
    """A clock ran ahead, the pipeline by it, and was set back."""
    house.sent(house.a, OLD)
    house.seal(*(TODAY + DAY * n for n in range(20)))
    assert house.run().run.row_count == 1


@pytest.mark.parametrize("days", [14, 15])
def test_days_that_were_more_than_halved_have_to_be_confirmed(house: Old, days: int) -> None:
    house.run()
    change_days(house, days)
    house.sent(house.a, TODAY - 20 * DAY)
    if days == 15:
        assert house.run().run.row_count == 1
        return
    with pytest.raises(Doubtful, match="for 30 days until now, and now for 14"):
        house.run()
    assert house.run(house.foresee().plan.code).run.row_count == 1
    assert house.run().run.row_count == 0


def test_after_a_restore_nothing_goes_until_somebody_has_looked(house: Old) -> None:
    """Were nothing due that night, a good run would be no sign that anybody has."""
    house.run()
    entry = Entry(SYSTEM, "ledger.restored", "20260101T020000Z")
    transact(house.engine, lambda connection: append(connection, entry, now()))
    with pytest.raises(Doubtful, match="restored from a backup"):
        house.run(now=now())
    house.sent(house.a, OLD)
    with pytest.raises(Doubtful, match="legal holds and days are those of the backup"):
        house.run(now=now())
    assert house.left(house.a) == {OLD: 1}
    confirmed = house.run(house.foresee(now=now()).plan.code, now=now())
    assert (confirmed.run.state, confirmed.run.row_count) == ("done", 1)
    assert house.foresee(now=now()).objections == []


def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def change_days(house: Old, days: int) -> None:
    change = text("UPDATE domains SET retention_days = :days")
    transact(house.engine, lambda c: c.execute(change, {"days": days}))


def test_days_below_six_stop_a_run_whoever_has_put_them_there(house: Old) -> None:
    house.sent(house.a, OLD)
    change_days(house, 5)
    with pytest.raises(Exception, match="between 6 and 3650"):
        house.run()
    assert house.left(house.a) == {OLD: 1}


def test_one_run_at_a_time(house: Old) -> None:
    with alone(house.deleting, LOCK, AnotherRuns), pytest.raises(AnotherRuns):
        house.run()


@pytest.mark.parametrize("read", [None, "messages"], ids=["not there yet", "reading messages"])
def test_nothing_goes_while_a_backup_looks_at_the_ledger(
    house: Old, retention_server: MariaServer, read: str | None
) -> None:
    """As mysqldump --single-transaction does it."""
    house.sent(house.a, OLD)
    before = house.partitions()
    engine = engine_of(retention_server.url("gatepost_main"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as backup:
        backup.execute(text("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        backup.execute(text("START TRANSACTION WITH CONSISTENT SNAPSHOT"))
        if read:
            backup.execute(text(f"SELECT COUNT(*) FROM {read}"))
        with pytest.raises(InTheWay, match="gatepost_main"):
            house.run()
        assert (house.left(house.a), house.partitions()) == ({OLD: 1}, before)
        backup.execute(text("COMMIT"))
    engine.dispose()
    (row,) = house.rows_of("retention_runs")
    assert row["state"] == "failed"
    assert house.run().run.state == "done"
    assert house.left(house.a) == {}


@pytest.mark.parametrize(
    ("schema", "seen"),
    [("gatepost", True), (KEYS_SCHEMA, True), (None, True), ("mysql", False)],
    ids=["the ledger", "its keys", "none yet", "another application"],
)
def test_a_snapshot_is_seen_but_for_somebody_elses(
    house: Old, retention_server: MariaServer, schema: str | None, seen: bool
) -> None:
    """With no schema at all it may be a dump that has only begun."""
    engine = create_engine(make_url(retention_server.url("root")).set(database=schema))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as other:
        other.execute(text("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        other.execute(text("START TRANSACTION WITH CONSISTENT SNAPSHOT"))
        number = other.scalar(text("SELECT CONNECTION_ID()"))
        wait_until_there(house.deleting, number)
        found = transact(house.deleting, open_snapshots)
        assert (number in {thread for thread, _ in found}) is seen
        other.execute(text("COMMIT"))
    engine.dispose()


def wait_until_there(engine: Engine, number: int) -> None:
    """The server looks again only if it was not asked for 0.1 s."""
    query = text("SELECT trx_mysql_thread_id FROM information_schema.innodb_trx")
    deadline = monotonic() + 15
    while number not in transact(engine, lambda c: set(c.execute(query).scalars())):
        assert monotonic() < deadline, "it has no transaction"
        sleep(0.15)


def test_who_holds_the_table_is_waited_for_a_second_at_a_time(
    house: Old, retention_server: MariaServer
) -> None:
    """A transaction that is no snapshot, and doesn't end."""
    house.sent(house.a, OLD)
    engine = engine_of(retention_server.url("gatepost_main"))
    with engine.begin() as other:
        other.execute(text("SELECT COUNT(*) FROM messages"))
        with pytest.raises(InTheWay, match="reads or writes"):
            house.run()
    engine.dispose()
    assert house.left(house.a) == {OLD: 1}
    assert house.run().run.state == "done"


def test_before_the_pipeline_ever_ran_nothing_goes(house: Old) -> None:
    house.sent(house.a, OLD)
    transact(house.engine, lambda c: c.execute(text("DELETE FROM lake_manifest")))
    with pytest.raises(Doubtful, match="nightly pipeline has not run"):
        house.run()
    confirmed = house.run(house.foresee().plan.code)
    assert confirmed.run.row_count == 0, "no day is sealed, whoever confirms"
    assert house.left(house.a) == {OLD: 1}
