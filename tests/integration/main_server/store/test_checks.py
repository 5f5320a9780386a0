"""The checks against real stores: what is unsafe is found, and in production nothing is served."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.exc import DataError

from gatepost.logs import Log
from infra.dev.engines import Engines, MariaServer, RedisServer
from main_server.store import checks as module
from main_server.store.checks import Checks, Safety
from main_server.store.database import Ledger
from tests.integration.main_server.conftest import engine_of

UNSAFE = "SET GLOBAL innodb_flush_log_at_trx_commit = 2"
SAFE = "SET GLOBAL innodb_flush_log_at_trx_commit = 1"


@pytest.fixture(scope="module")
def maria(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    """One of our own: these tests change how it is set up."""
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture(scope="module")
def queue(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(engines, tmp_path_factory.mktemp("redis")) as server:
        yield server


class Stores:
    def __init__(self, maria: MariaServer, queue: RedisServer, production: bool) -> None:
        self._root = engine_of(maria.url("root", "mysql"))
        with self._root.begin() as connection:
            self._modes = connection.execute(text("SELECT @@GLOBAL.sql_mode")).scalar_one()
        self._operator = Redis.from_url(queue.url("operator"))
        self.engine = engine_of(maria.url("gatepost_main"))
        self.redis = Redis.from_url(queue.url("gatepost_main"))
        self.safety = Safety(production)
        self.checks = Checks(Log("main_server"), Ledger(self.engine, 1), self.redis, self.safety)
        self._looks = asyncio.Queue[None]()
        real = self.checks.look

        async def look() -> None:
            await real()
            self._looks.put_nowait(None)

        self.checks.look = look  # type: ignore[method-assign]

    async def looked(self, times: int) -> None:
        """Waits until it has looked so many times from now on."""
        while not self._looks.empty():
            self._looks.get_nowait()
        for _ in range(times):
            await asyncio.wait_for(self._looks.get(), 10)

    def set_ledger(self, statement: str) -> None:
        with self._root.begin() as connection:
            connection.execute(text(statement))

    async def set_redis(self, name: str, value: str) -> None:
        await self._operator.config_set(name, value)

    async def put_right(self) -> None:
        self.set_ledger(SAFE)
        self.set_ledger("SET GLOBAL general_log = 0")
        self.set_ledger(f"SET GLOBAL sql_mode = '{self._modes}'")
        for name, value in (("appendfsync", "always"), ("maxmemory-policy", "noeviction")):
            await self.set_redis(name, value)
        await self._operator.aclose()
        await self.redis.aclose()
        self._root.dispose()
        self.engine.dispose()


@pytest.fixture(params=[True, False], ids=["production", "development"])
async def stores(
    request: pytest.FixtureRequest, maria: MariaServer, queue: RedisServer
) -> AsyncIterator[Stores]:
    stores = Stores(maria, queue, request.param)
    yield stores
    await stores.put_right()


async def test_what_infra_sets_up_has_no_fault(stores: Stores) -> None:
    await stores.checks.look()
    assert stores.safety.faults == ()


async def test_a_server_that_would_cut_values_is_put_right_by_our_sessions(
    stores: Stores, maria: MariaServer
) -> None:
    stores.set_ledger("SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")
    engine = engine_of(maria.url("root", "mysql"))
    try:
        await Checks(Log("main_server"), Ledger(engine, 1), stores.redis, stores.safety).look()
        assert stores.safety.faults == ()
        with engine.begin() as connection:
            connection.execute(text("CREATE TEMPORARY TABLE short (value VARCHAR(3))"))
            insert = text("INSERT INTO short VALUES (:value)")
            connection.execute(insert, {"value": "\\'\""})
            assert connection.execute(text('SELECT "a", value FROM short')).one() == ("a", "\\'\"")
            with pytest.raises(DataError):
                connection.execute(insert, {"value": "four"})
    finally:
        engine.dispose()


async def test_what_is_unsafe_is_found_and_told_once(
    stores: Stores, capsys: pytest.CaptureFixture[str]
) -> None:
    stores.set_ledger(UNSAFE)
    stores.set_ledger("SET GLOBAL general_log = 1")
    await stores.set_redis("appendfsync", "everysec")
    await stores.set_redis("maxmemory-policy", "allkeys-lru")
    for _ in range(3):
        await stores.checks.look()
    assert len(stores.safety.faults) == 4
    assert (stores.safety.problem is not None) is stores.safety.production
    said = capsys.readouterr().out
    assert said.count("store.unsafe") == 4
    assert said.count('"level":"error"') == (4 if stores.safety.production else 0)


async def test_in_production_nothing_is_served_until_it_is_put_right(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.02)
    stores.set_ledger(UNSAFE)
    await stores.set_redis("appendfsync", "everysec")
    waiting = asyncio.create_task(stores.checks.wait(asyncio.Event()))
    if not stores.safety.production:
        await asyncio.wait_for(waiting, 10)
        return
    await stores.looked(3)
    assert not waiting.done()
    stores.set_ledger(SAFE)
    await stores.looked(3)
    assert not waiting.done()
    await stores.set_redis("appendfsync", "always")
    await asyncio.wait_for(waiting, 10)
    assert stores.safety.problem is None


async def test_it_can_be_stopped_while_it_waits(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.02)
    stores.set_ledger(UNSAFE)
    stop = asyncio.Event()
    waiting = asyncio.create_task(stores.checks.wait(stop))
    stop.set()
    await asyncio.wait_for(waiting, 10)


async def test_what_changes_later_is_found(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.02)
    await stores.checks.wait(asyncio.Event())
    stop = asyncio.Event()
    looking = asyncio.create_task(stores.checks.loop(stop))
    await stores.set_redis("appendfsync", "no")
    await stores.looked(3)
    stop.set()
    await looking
    assert "appendfsync" in stores.safety.faults[0]


async def test_a_store_that_is_silent_is_not_called_unsafe(
    stores: Stores, queue: RedisServer
) -> None:
    """The main server must be able to start without Redis: it is what puts things right again."""
    queue.stop()
    try:
        await asyncio.wait_for(stores.checks.wait(asyncio.Event()), 20)
        assert stores.safety.faults == ()
    finally:
        queue.start()


async def test_settings_that_may_not_be_read_are_a_fault(
    stores: Stores, queue: RedisServer
) -> None:
    proxy = Redis.from_url(queue.url("gatepost_proxy"))
    ledger = Ledger(stores.engine, 1)
    await Checks(Log("main_server"), ledger, proxy, stores.safety).look()
    await proxy.aclose()
    assert stores.safety.faults == (
        "redis: our user may not read its settings: grant it +config|get",
    )
