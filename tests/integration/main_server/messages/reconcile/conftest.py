"""A ledger and a queue that a test can set at odds, and the reconciler between them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
import pytest
from redis.asyncio import Redis
from sqlalchemy import Engine, delete

from gatepost.clock import Clock
from gatepost.queue import Delivery, Entry, Queue, Queues, connect
from gatepost.wire.contract import DeliveryOffer, Result
from gatepost.wire.envelope import Envelope, decode, encode
from main_server.messages.reconcile.loop import ReconcileMetrics
from main_server.messages.reconcile.to_ledger import ToLedger
from main_server.messages.reconcile.to_queue import ToQueue
from main_server.store.database import Ledger, transact
from main_server.store.tables import messages
from tests.integration.main_server.conftest import Room

AHEAD_MS = 10_000
QUEUE = "message_queue"


def clock_ahead() -> Clock:
    """For which all that was queued just now is overdue."""
    clock = Clock()
    clock.correct(clock.now_ms() + AHEAD_MS, took_ms=0)
    return clock


@dataclass
class Odds:
    """The two stores, and what they know."""

    room: Room
    redis: Redis
    queues: Queues
    ledger: Ledger

    @property
    def queue(self) -> Queue:
        return self.queues.named(None)

    def to_queue(self, queues: Any = None) -> ToQueue:
        return ToQueue(self.ledger, self.room.ring, queues or self.queues, clock_ahead())

    def to_ledger(self) -> ToLedger:
        return ToLedger(self.ledger, self.room.ring, Clock())

    def registered(self, count: int, **given: Any) -> list[Envelope]:
        """In the ledger alone."""
        envelopes = [self.room.envelope(**given) for _ in range(count)]
        for start in range(0, count, 500):
            self.room.register(*envelopes[start : start + 500])
        return envelopes

    async def enqueued(
        self, *envelopes: Envelope, exposed: bool = False, name: str | None = None
    ) -> None:
        entries = [
            Entry(
                id=one.message_id.bytes,
                payload=encode(one),
                expires_at=one.expires_at,
                exposed=exposed,
            )
            for one in envelopes
        ]
        await self.queues.named(name).enqueue(entries)

    async def waiting(self, envelopes: Sequence[Envelope]) -> set[UUID]:
        """Those of them that the queue knows."""
        ids = [one.message_id.bytes for one in envelopes]
        missing = set(await self.queue.missing(ids))
        return {UUID(bytes=id_) for id_ in ids if id_ not in missing}

    def states(self, envelopes: Sequence[Envelope]) -> set[tuple[str, str | None]]:
        return {self.room.status(one.message_id)[:2] for one in envelopes}

    async def deliver_some(self, limit: int = 50) -> int:
        """As a worker does: reserve, deliver, acknowledge; how many there were."""
        batch = await self.queue.reserve(limit, 30)
        if not batch:
            return 0
        results = await self.ledger.run(_offer, self.room, batch, send=False)
        wanted = [d for d, r in zip(batch, results, strict=True) if r is Result.SEND_ENVELOPE]
        if wanted:
            await self.ledger.run(_offer, self.room, wanted, send=True)
        await self.queue.acknowledge(batch)
        return len(batch)


def _offer(_engine: Engine, room: Room, batch: Sequence[Delivery], *, send: bool) -> list[Result]:
    offers = [
        DeliveryOffer(
            message_id=UUID(bytes=one.id),
            attempt=one.attempts,
            envelope=msgspec.Raw(one.payload) if send else msgspec.Raw(),
        )
        for one in batch
    ]
    return [answer.result for answer in room.offer(*offers)]


def opened(room: Room, payload: bytes) -> tuple[Envelope, bytes]:
    envelope = decode(payload)
    return envelope, room.ring.open_envelope(envelope)


@pytest.fixture(autouse=True)
def nothing_waits(engine: Engine) -> None:
    """What other tests have left would be found by the reconciler as well."""
    transact(engine, lambda c: c.execute(delete(messages)))


@pytest.fixture
async def odds(room: Room, redis_url: str) -> AsyncIterator[Odds]:
    redis = connect(redis_url)
    yield Odds(room, redis, Queues(redis, QUEUE), Ledger(room.engine, 4))
    await redis.aclose()


@pytest.fixture(scope="session")
def made_once() -> ReconcileMetrics:
    return ReconcileMetrics()


@pytest.fixture
def quiet_metrics(made_once: ReconcileMetrics, monkeypatch: pytest.MonkeyPatch) -> ReconcileMetrics:
    """The registry knows each name once, and here are several reconcilers."""
    monkeypatch.setattr("main_server.messages.reconcile.loop.ReconcileMetrics", lambda: made_once)
    return made_once
