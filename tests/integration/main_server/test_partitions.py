"""Partitions: a day each, ahead of time, made once, and every message in its own."""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from gatepost.clock import TIMES_TO_BELIEVE, Clock
from gatepost.ids import first_id_at
from infra.dev.engines import Engines, MariaServer
from main_server.keys.master import MasterKeys
from main_server.keys.service import open_keyring
from main_server.messages.housekeeping import housekeeping_loop
from main_server.messages.partitions import (
    DAYS_AHEAD,
    TABLES,
    ensure_partitions,
    partition_name,
)
from main_server.store import schema as migrating
from main_server.store.database import Ledger
from tests import factories
from tests.heard import HeardLog, until
from tests.integration.main_server.conftest import KEYS_SCHEMA, MASTER, Room, engine_of

TODAY = date(2030, 3, 1)


@pytest.fixture(scope="module")
def server(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    """One of our own: these tests set the date."""
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture
def fresh(server: MariaServer) -> Iterator[Engine]:
    """A ledger without a single day in it."""
    migrator = engine_of(server.url("gatepost_migrate"))
    migrating.upgrade(migrator, KEYS_SCHEMA)
    engine = engine_of(server.url("gatepost_main"))
    yield engine
    engine.dispose()
    migrating.downgrade(migrator, KEYS_SCHEMA, "base")
    migrator.dispose()


def partitions(engine: Engine, table: str = "messages") -> list[str]:
    query = text(
        "SELECT partition_name FROM information_schema.partitions"
        " WHERE table_schema = 'gatepost' AND table_name = :table"
        " ORDER BY partition_ordinal_position"
    )
    with engine.connect() as connection:
        return list(connection.execute(query, {"table": table}).scalars())


def days(first: date, last: date) -> list[str]:
    return [partition_name(first + timedelta(days=n)) for n in range((last - first).days + 1)]


@pytest.mark.parametrize("table", TABLES)
def test_there_is_a_day_for_everything_from_yesterday_to_two_weeks_ahead(
    fresh: Engine, table: str
) -> None:
    made = ensure_partitions(fresh, TODAY)
    ahead = TODAY + timedelta(days=DAYS_AHEAD)
    expected = days(TODAY - timedelta(days=1), ahead)
    assert partitions(fresh, table) == [*expected, "pmax"]
    assert [partition_name(day) for day in made] == expected


def test_done_again_it_does_nothing_and_the_next_day_adds_one(fresh: Engine) -> None:
    ensure_partitions(fresh, TODAY)
    assert ensure_partitions(fresh, TODAY) == []
    before = partitions(fresh)
    assert ensure_partitions(fresh, TODAY + timedelta(days=1)) == [
        TODAY + timedelta(days=DAYS_AHEAD + 1)
    ]
    assert partitions(fresh)[:-2] == before[:-1]
    assert ensure_partitions(fresh, TODAY - timedelta(days=30)) == [], "a clock that is set back"


def test_what_was_made_is_flushed_for_mariadb_does_not(
    fresh: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[list[str]] = []
    monkeypatch.setattr(os, "sync", lambda: flushed.append(partitions(fresh)))
    ensure_partitions(fresh, TODAY)
    assert flushed == [partitions(fresh)]
    ensure_partitions(fresh, TODAY)
    assert len(flushed) == 1, "where nothing was made nobody waits for the disks"


async def test_a_main_server_makes_them_for_as_long_as_it_runs(
    fresh: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.messages.housekeeping.EVERY_SECONDS", 0.05)
    clock, stop, log = Clock(), asyncio.Event(), HeardLog()
    set_to_noon(clock, TODAY)
    loop = asyncio.create_task(housekeeping_loop(stop, log, Ledger(fresh, 1), clock))
    await until(lambda: log.of("partitions.made"))
    set_to_noon(clock, TODAY + timedelta(days=1))
    await until(lambda: len(log.of("partitions.made")) == 2)
    stop.set()
    await loop
    last = TODAY + timedelta(days=DAYS_AHEAD + 1)
    for table in TABLES:
        assert partitions(fresh, table)[-2:] == [partition_name(last), "pmax"]


def set_to_noon(clock: Clock, day: date) -> None:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    for _ in range(TIMES_TO_BELIEVE):
        clock.correct(int(noon.timestamp() * 1000), took_ms=0)


def test_after_a_long_pause_the_days_between_belong_to_the_first_new_one(fresh: Engine) -> None:
    ensure_partitions(fresh, TODAY)
    later = TODAY + timedelta(days=60)
    ensure_partitions(fresh, later)
    assert partitions(fresh)[-1] == "pmax"
    assert partitions(fresh)[-2] == partition_name(later + timedelta(days=DAYS_AHEAD))


def test_many_callers_at_once_make_each_day_once(fresh: Engine) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: ensure_partitions(fresh, TODAY), range(8)))
    assert 1 <= sum(map(bool, made)) <= len(TABLES), "each table was divided by one of them"
    for table in TABLES:
        assert len(partitions(fresh, table)) == DAYS_AHEAD + 3


def test_every_message_is_in_the_partition_of_its_day(fresh: Engine) -> None:
    ensure_partitions(fresh, TODAY)
    room = Room(fresh, open_keyring(fresh, MasterKeys(lambda: [MASTER])))
    midnight = int(datetime(2030, 3, 2, tzinfo=UTC).timestamp() * 1000)
    last, first = message_id_at(midnight - 1), message_id_at(midnight)
    room.deliver(*(room.envelope(message_id=one) for one in (last, first)))
    for day, message_id in ((TODAY, last), (TODAY + timedelta(days=1), first)):
        query = text(f"SELECT message_id FROM messages PARTITION ({partition_name(day)})")
        with fresh.connect() as connection:
            assert list(connection.execute(query).scalars()) == [message_id.bytes]
    with fresh.connect() as connection:
        assert connection.scalar(text("SELECT COUNT(*) FROM messages PARTITION (pmax)")) == 0


def message_id_at(ms: int) -> UUID:
    random = factories.ids.new().bytes[6:]
    return UUID(bytes=first_id_at(ms)[:6] + random)
