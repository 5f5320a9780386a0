"""The reconciler's loop: what it does at once, what at its own pace, and who does it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis
from sqlalchemy import Engine, delete
from sqlalchemy.dialects.mysql import insert

from gatepost.clock import from_ms
from gatepost.queue import Queues, connect
from gatepost.wire.envelope import Envelope
from infra.dev.engines import MariaServer, RedisServer
from main_server.messages.reconcile.loop import TICK_SECONDS, Reconciler
from main_server.store.database import Ledger, transact
from main_server.store.tables import domains
from tests.heard import HeardLog, until
from tests.integration.main_server.conftest import engine_of
from tests.integration.main_server.messages.reconcile.conftest import QUEUE, Odds, clock_ahead
from tests.wire import Wire

pytestmark = pytest.mark.usefixtures("quiet_metrics")

OTHER = "b.example:messages"


@pytest.fixture(autouse=True)
def two_domains(engine: Engine) -> None:
    def make(connection: Any) -> None:
        connection.execute(delete(domains))
        for name, queue in (("example.com", None), ("b.example", OTHER)):
            connection.execute(
                insert(domains).values(
                    domain=name, queue=queue, max_undelivered=10, created_at=from_ms(0)
                )
            )

    transact(engine, make)


class MainServer:
    """One main server's reconciler, as it runs."""

    def __init__(self, odds: Odds, ledger: Ledger | None = None, redis: Redis | None = None):
        self.log = HeardLog()
        self._stop = asyncio.Event()
        queues = Queues(redis or odds.redis, QUEUE)
        self.reconciler = Reconciler(
            self.log, ledger or odds.ledger, odds.room.ring, queues, clock_ahead()
        )

    async def __aenter__(self) -> "MainServer":
        self._task = asyncio.create_task(self.reconciler.loop(self._stop))
        return self

    async def __aexit__(self, *_error: Any) -> None:
        self._stop.set()
        async with asyncio.timeout(30):
            await self._task

    async def has_swept(self) -> None:
        """Until it has seen to everything once, and goes on at its usual pace."""
        reconciler = self.reconciler
        await until(lambda: reconciler._epochs and not reconciler._sweeping)

    @property
    def cursor(self) -> bytes:
        return self.reconciler._to_queue._place.message_id

    @property
    def enqueued(self) -> int:
        return sum(one["count"] for one in self.log.of("reconciler.enqueued"))


async def known(odds: Odds, rows: list[Envelope], seconds: float = 20.0) -> None:
    """Until the queue knows all of them."""
    async with asyncio.timeout(seconds):
        while len(await odds.waiting(rows)) < len(rows):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_wiped_redis_is_filled_again_at_once(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the cursor was. At its usual pace, 20 in a quarter of a second, what lies behind it
    would take 9 seconds."""
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 20)
    monkeypatch.setattr("main_server.messages.reconcile.loop.TICK_SECONDS", 0.001)
    rows = odds.registered(1000)
    await odds.enqueued(*rows)
    async with MainServer(odds) as main:
        await main.has_swept()
        await until(lambda: main.cursor > rows[720].message_id.bytes)
        monkeypatch.setattr("main_server.messages.reconcile.loop.TICK_SECONDS", TICK_SECONDS)
        assert main.cursor > rows[720].message_id.bytes
        assert main.enqueued == 0
        await odds.redis.flushall()
        await known(odds, rows, 5.0)
        await until(lambda: main.enqueued >= 1000)
        await asyncio.sleep(2 * TICK_SECONDS)
        assert main.enqueued == 1000


async def test_who_takes_the_lead_looks_at_everything_at_once(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 20)
    rows = odds.registered(800)
    async with MainServer(odds):
        await known(odds, rows, 5.0)


async def test_what_was_lost_without_a_wipe_is_found_at_a_bounded_rate(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the end of the AOF was cut off: the epoch stands, some ids are gone."""
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 20)
    rows = odds.registered(100)
    await odds.enqueued(*rows)
    async with MainServer(odds) as main:
        await asyncio.sleep(2 * TICK_SECONDS)
        await odds.queue.remove([one.message_id.bytes for one in rows[50:]])
        started = asyncio.get_running_loop().time()
        await known(odds, rows)
        assert asyncio.get_running_loop().time() - started > 2 * TICK_SECONDS
        await until(lambda: main.enqueued == 50)
        assert max(one["count"] for one in main.log.of("reconciler.enqueued")) <= 20


async def test_what_only_redis_has_is_registered_while_a_long_sweep_goes_on(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 5)
    rows = odds.registered(2000)
    late = odds.room.envelope()
    async with MainServer(odds) as main:
        await until(lambda: main.enqueued > 100)
        await odds.enqueued(late, exposed=True)
        await until(lambda: odds.room.row(late.message_id) is not None, 5.0)
        assert main.enqueued < len(rows)


async def test_every_domains_queue_is_seen_to(odds: Odds) -> None:
    theirs, lost = odds.room.envelope(queue=OTHER), odds.registered(1, queue=OTHER)
    other = odds.queues.named(OTHER)
    async with MainServer(odds):
        await odds.enqueued(theirs, exposed=True, name=OTHER)
        await until(lambda: odds.room.row(theirs.message_id) is not None, 5.0)
        async with asyncio.timeout(5):
            while await other.missing([lost[0].message_id.bytes]):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_of_two_main_servers_one_does_it_and_the_other_takes_over(
    odds: Odds, database_url: str, maria_server: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    far_engine = engine_of(database_url)
    with Wire(maria_server.port) as wire:
        near = engine_of(database_url.replace(f":{maria_server.port}/", f":{wire.port}/"))
        async with (
            MainServer(odds, Ledger(near, 2)) as first,
            _beside(odds, first, Ledger(far_engine, 2)) as second,
        ):
            rows = odds.registered(50)
            await known(odds, rows)
            await until(lambda: first.enqueued + second.enqueued == 50)
            assert second.enqueued == 0
            wire.refuse()
            more = odds.registered(50)
            await odds.redis.flushall()
            await known(odds, more)
            await until(lambda: first.enqueued + second.enqueued == 150)
            assert first.enqueued == 50
            wire.accept()
        near.dispose()
    far_engine.dispose()


@asynccontextmanager
async def _beside(odds: Odds, first: MainServer, ledger: Ledger) -> AsyncIterator[MainServer]:
    """A second one, begun when the first has the lead."""
    leads = first.reconciler._leadership
    await until(lambda: leads._connection is not None)
    async with MainServer(odds, ledger) as second:
        yield second


@pytest.mark.parametrize("which", ["redis", "ledger"])
async def test_an_outage_is_said_once_and_afterwards_everything_is_looked_at(
    odds: Odds,
    which: str,
    database_url: str,
    maria_server: MariaServer,
    redis_server: RedisServer,
    redis_url: str,
) -> None:
    rows = odds.registered(20)
    upstream = maria_server.port if which == "ledger" else redis_server.port
    with Wire(upstream) as wire:
        far = engine_of(database_url.replace(f":{maria_server.port}/", f":{wire.port}/"))
        far_redis = connect(redis_url.replace(f":{redis_server.port}/", f":{wire.port}/"))
        away: Any = {"ledger": Ledger(far, 2)} if which == "ledger" else {"redis": far_redis}
        async with MainServer(odds, **away) as main:
            await known(odds, rows)
            wire.refuse()
            await until(lambda: main.log.of("reconciler.interrupted"))
            await asyncio.sleep(3 * TICK_SECONDS)
            only_redis = odds.room.envelope()
            await odds.redis.flushall()
            await odds.enqueued(only_redis, exposed=True)
            wire.accept()
            await known(odds, rows, 5.0)
            await until(lambda: odds.room.row(only_redis.message_id) is not None, 5.0)
        assert len(main.log.of("reconciler.interrupted")) == 1
        assert len(main.log.of("reconciler.resumed")) == 1
        await far_redis.aclose()
        far.dispose()


async def test_what_the_ledger_alone_has_taken_is_enqueued_as_soon_as_redis_is_back(
    odds: Odds, redis_server: RedisServer, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its epoch stands, but nobody knows what happened meanwhile. The usual pace: 20 s."""
    monkeypatch.setattr("main_server.messages.reconcile.to_queue.BATCH", 5)
    with Wire(redis_server.port) as wire:
        far = connect(redis_url.replace(f":{redis_server.port}/", f":{wire.port}/"))
        async with MainServer(odds, redis=far) as main:
            await main.has_swept()
            wire.refuse()
            await until(lambda: main.log.of("reconciler.interrupted"))
            rows = odds.registered(400)
            wire.accept()
            await known(odds, rows, 6.0)
        await far.aclose()


async def test_what_is_exposed_is_registered_within_five_seconds(odds: Odds) -> None:
    """I1's promise, from the moment that both can be reached."""
    async with MainServer(odds):
        envelopes = [odds.room.envelope() for _ in range(2000)]
        for start in range(0, 2000, 500):
            await odds.enqueued(*envelopes[start : start + 500], exposed=True)
        await until(lambda: odds.room.count_rows() == 2000, 5.0)


async def test_what_is_damaged_in_one_queue_holds_up_no_other_one(odds: Odds) -> None:
    """By somebody who can write to Redis: an id that is none."""
    good, bad = odds.room.envelope(), odds.room.envelope()
    await odds.enqueued(bad, exposed=True)
    (exposed,) = [key async for key in odds.redis.scan_iter(match=b"*:exposed")]
    payload = exposed.removesuffix(b"exposed") + b"payload"
    whole = await odds.redis.hget(payload, bad.message_id.bytes)
    await odds.redis.hset(payload, b"odd", whole)
    await odds.redis.sadd(exposed, b"odd")
    async with MainServer(odds) as main_server:
        await until(lambda: bool(main_server.log.of("reconciler.damaged")))
        await odds.enqueued(good, exposed=True, name=OTHER)
        await until(lambda: odds.room.count_rows() == 1)
