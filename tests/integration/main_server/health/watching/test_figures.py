"""What is watched in the stores, read from real ones."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from sqlalchemy import Engine, insert, text

from gatepost.clock import to_ms
from gatepost.queue import connect
from infra.dev.engines import MariaServer, RedisServer
from main_server.audit import checking
from main_server.audit.checking import start_if_due, take_turn
from main_server.health.watching.ledger_figures import (
    AUDIT_WORDS,
    LEDGER_WORDS,
    read_audit,
    read_ledger,
)
from main_server.health.watching.redis_figures import FLUSH, THRESHOLD, WORDS, read_figures
from main_server.messages.partitions import DAYS_AHEAD, LAST
from main_server.store.database import transact
from main_server.store.tables import attempts
from tests.integration.main_server.audit.logs import empty, run_sql, write
from tests.integration.main_server.conftest import engine_of

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
async def redis(redis_server: RedisServer, redis_url: str) -> AsyncIterator[Redis]:
    """As the main server is it."""
    async with connect(redis_server.url("gatepost_main")) as redis:
        yield redis


@pytest.fixture
def log(engine: Engine) -> Iterator[Engine]:
    empty(engine)
    yield engine
    empty(engine)


async def test_the_main_servers_user_may_see_all_of_it(redis: Redis) -> None:
    found = await read_figures(redis)
    assert found.keys() == WORDS.keys()
    assert None not in found.values()
    assert found["aof_ok"] == 1
    assert (found["memory_bytes"] or 0) > 0


async def test_the_longest_flush_of_the_last_minute_is_shown(redis: Redis, redis_url: str) -> None:
    """Disks can't be made slow here, so that every flush counts as slow."""
    async with connect(redis_url) as operator:

        async def longest() -> float:
            history: Any = await operator.execute_command("LATENCY HISTORY", FLUSH)  # type: ignore[no-untyped-call]
            return max((ms / 1000 for _, ms in history), default=0.0)

        # What was noted in other tests may be older than a minute.
        await operator.execute_command("LATENCY RESET", FLUSH)  # type: ignore[no-untyped-call]
        await operator.config_set(THRESHOLD, 1)
        try:
            for number in range(10_000):
                await operator.set(f"gatepost:slow-{number}", b"x" * 500_000)
                at_least = await longest()
                found = (await read_figures(redis))["fsync_seconds"]
                at_most = await longest()
                if at_least:
                    break
            assert found is not None
            assert 0 < at_least <= found <= at_most
            await operator.config_set(THRESHOLD, 0)
            assert (await read_figures(redis))["fsync_seconds"] is None, "nothing is noted then"
        finally:
            await operator.config_set(THRESHOLD, 10)


async def test_what_may_not_be_seen_is_not_known(redis: Redis, redis_url: str) -> None:
    async with connect(redis_url) as operator:
        await operator.execute_command("ACL SETUSER gatepost_main -latency|history")  # type: ignore[no-untyped-call]
        try:
            found = await read_figures(redis)
        finally:
            await operator.execute_command("ACL SETUSER gatepost_main +latency|history")  # type: ignore[no-untyped-call]
    assert found["fsync_seconds"] is None
    assert found["aof_ok"] == 1


def test_a_row_in_the_last_partition_shows(engine: Engine, maria_server: MariaServer) -> None:
    today = datetime.now(UTC).date()
    found = read_ledger(engine, today)
    assert found.keys() == LEDGER_WORDS.keys()
    assert found["misplaced_rows"] == 0
    assert found["days_ahead"] == DAYS_AHEAD
    assert found["connections_limit"] == 200
    assert 0 < (found["connections"] or 0) < 200
    assert read_ledger(engine, today + timedelta(days=3))["days_ahead"] == DAYS_AHEAD - 3
    root = engine_of(maria_server.url("root"))
    far = b"\xff" * 16
    try:
        _plant(root, far)
        assert read_ledger(engine, today)["misplaced_rows"] == 1
    finally:
        with root.begin() as connection:
            connection.execute(text(f"DELETE FROM attempts PARTITION ({LAST})"))
        root.dispose()


def _plant(root: Engine, message_id: bytes) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    given = {"message_id": message_id, "attempt": 1, "started_at": now, "ended_at": now}
    row = {"outcome": "retry", "reason": "refused"} | given
    with root.begin() as connection:
        connection.execute(insert(attempts).values(row))


def test_the_audit_log_is_checked_once_a_day_by_itself(log: Engine) -> None:
    assert read_audit(log) == {}, "nobody knows yet"
    begun = start_if_due(log, NOW)
    assert begun is not None
    assert start_if_due(log, NOW) is None, "one is under way"
    _run(log, NOW)
    found = read_audit(log)
    assert found.keys() == AUDIT_WORDS.keys()
    assert (found["whole"], found["entries"]) == (1, 1)
    assert start_if_due(log, NOW + timedelta(hours=23)) is None
    assert start_if_due(log, NOW + timedelta(hours=25)) is not None


def test_a_broken_chain_shows_until_a_check_finds_it_whole(log: Engine) -> None:
    for number in range(3):
        write(log, number)
    run_sql(log, "UPDATE audit_log SET actor = 'somebody' WHERE seq = 2")
    start_if_due(log, NOW)
    _run(log, NOW)
    found = read_audit(log)
    assert (found["whole"], found["entries"]) == (0, 1)
    start_if_due(log, NOW + timedelta(days=2))
    assert read_audit(log)["whole"] == 0, "while the next check is under way"


def _run(log: Engine, now: datetime) -> None:
    ended = None
    while ended is None:
        now += timedelta(seconds=1)
        turn = take_turn(log, now)
        assert turn is not None
        ended = turn.ended_at
    assert checking.latest(log) is not None
    assert to_ms(ended) >= to_ms(NOW)
    assert transact(log, lambda c: c.scalar(text("SELECT COUNT(*) FROM audit_checks"))) == 1
