"""Poison: messages that nobody can open, put into the queue itself, as a damaged edge would.

They count as accepted once Redis has them, and as exposed, for only Redis has. Each must end as a
failed row, and take no other message along.
"""

import asyncio
import random
import secrets
import time

from gatepost.clock import Clock
from gatepost.ids import MessageIds
from gatepost.queue import (
    Entry,
    Queue,
    QueueError,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    QueueUnreachable,
    connect,
)
from gatepost.wire.envelope import Envelope, encode
from tests.chaos.history import Heard, History, Item

LIFE_MS = 96 * 3600 * 1000
_NOTHING_KEPT = (QueueFull, QueueLoading, QueueReadOnly, QueueUnreachable)


class Poisoner:
    def __init__(self, url: str, queue: str, name: str, history: History) -> None:
        self._redis = connect(url)
        self._queue = Queue(self._redis, queue)
        self._name = name
        self._history = history
        self._ids = MessageIds(Clock())

    async def run(
        self, rate: float, seconds: float, stop: asyncio.Event, dice: random.Random
    ) -> None:
        over = time.monotonic() + seconds
        number = 0
        while not stop.is_set() and time.monotonic() < over:
            number += 1
            await self.poison(f"{self._name}-poison-{number}")
            await asyncio.sleep(dice.expovariate(rate))
        await self._redis.aclose()

    async def poison(self, marker: str) -> None:
        envelope = self._envelope()
        item = Item(marker, expect="fail", message_id=str(envelope.message_id))
        op = self._history.invoke("poison", [item])
        entry = Entry(
            id=envelope.message_id.bytes,
            payload=encode(envelope),
            expires_at=envelope.expires_at,
            exposed=True,
        )
        try:
            await self._queue.enqueue([entry])
        except _NOTHING_KEPT as error:
            self._history.fail(op, "poison", type(error).__name__)
        except QueueError as error:
            self._history.info(op, "poison", type(error).__name__)
        else:
            told = Heard(202, message_id=str(envelope.message_id), durability="queue")
            self._history.ok(op, "poison", [told])

    def _envelope(self) -> Envelope:
        """Whole as an envelope; what is sealed in it was sealed by nobody."""
        message_id = self._ids.new()
        now = time.time_ns() // 1_000_000
        return Envelope(
            message_id=message_id,
            client_id="example.com:client_001",
            domain="example.com",
            queue=self._queue.name,
            cert_fingerprint="ab" * 32,
            queued_at=now,
            expires_at=now + LIFE_MS,
            sealed=b"\x01" + secrets.token_bytes(200),
            request_id=f"poison-{message_id}",
            traceparent="",
        )
