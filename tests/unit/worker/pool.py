"""A worker's parts around a main server that answers as a test wants, and a queue that notes what
is done to it."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from uuid import UUID

import httpx

from gatepost.clock import Clock
from gatepost.queue import Delivery, Reason
from gatepost.wire.contract import (
    DeliverAnswer,
    DeliverResult,
    DeliveryOffer,
    QueueNames,
    Result,
    SettleItem,
    decode_deliver_request,
    decode_settle_request,
    encode_json,
)
from gatepost.wire.vitals import Tally
from tests.factories import ids
from tests.heard import HeardLog
from worker.breaker import Breaker
from worker.delivering import Deliverer, DeliveryMetrics
from worker.main_server import MainServer
from worker.settings import Pool

_order = itertools.count()


@cache
def metrics() -> DeliveryMetrics:
    """Made once in a process: the registry knows each name once."""
    return DeliveryMetrics()


def delivery(
    attempts: int = 1, payload: bytes = b'{"request_id":"r"}', generation: int = 0
) -> Delivery:
    return Delivery(
        id=ids.new().bytes,
        payload=payload,
        tag=b"t" * 8,
        attempts=attempts,
        generation=generation,
        priority=5,
        enqueued_at=0,
        expires_at=None,
        deadline=0,
        partition=0,
    )


class FakeMain:
    """A main server: `results` by message, else delivered; or a `fault`, answered or raised."""

    def __init__(self) -> None:
        self.results: dict[UUID, list[DeliverResult]] = {}
        self.offers: list[list[DeliveryOffer]] = []
        self.settled: list[SettleItem] = []
        self.fault: Callable[[str], httpx.Response | None] = lambda _path: None
        self.names: list[str | None] = [None]
        self.paused: list[str] = []
        self.settled_at: int | None = None
        self.held = Result.DELIVERED
        self.delay = 0.0
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self._serve), base_url="https://main"
        )
        self.client = MainServer(client, 0.2)

    def answer(self, one: Delivery, *results: Result, **given: Any) -> None:
        """What it says of a message: one result for each time that it is offered."""
        id_ = UUID(bytes=one.id)
        self.results[id_] = [DeliverResult(message_id=id_, result=r, **given) for r in results]

    async def _serve(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(self.delay)
        path = request.url.path
        if (fault := self.fault(path)) is not None:
            return fault
        if path == "/internal/queues":
            return httpx.Response(200, content=encode_json(QueueNames(self.names, self.paused)))
        if path == "/internal/messages/settle":
            self.settled += decode_settle_request(request.content).settlements
            self.settled_at = next(_order)
            return httpx.Response(200, content=b"{}")
        offers = decode_deliver_request(request.content).deliveries
        self.offers.append(offers)
        answer = DeliverAnswer([self._result(one) for one in offers])
        return httpx.Response(200, content=encode_json(answer))

    def _result(self, offer: DeliveryOffer) -> DeliverResult:
        said = self.results.get(id_ := offer.message_id)
        if not said:
            usual = self.held if offer.held else Result.DELIVERED
            return DeliverResult(message_id=id_, result=usual)
        return said.pop(0) if len(said) > 1 else said[0]


class FakeQueue:
    """Notes what is done to it, in order."""

    name = "q"

    def __init__(self) -> None:
        self.done: list[Delivery] = []
        self.later: list[tuple[Delivery, float]] = []
        self.dead: list[tuple[Delivery, Reason]] = []
        self.given_back: list[Delivery] = []
        self.settled_at: int | None = None
        self.failure: Exception | None = None

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> list[bool]:
        return self._note(self.done, deliveries)

    async def retry_later(self, retries: Sequence[tuple[Delivery, float]]) -> list[bool]:
        return self._note(self.later, retries)

    async def dead_letter(self, letters: Sequence[tuple[Delivery, Reason]]) -> list[bool]:
        return self._note(self.dead, letters)

    async def give_back(self, deliveries: Sequence[Delivery]) -> list[bool]:
        return self._note(self.given_back, deliveries)

    def _note(self, where: list[Any], what: Sequence[Any]) -> list[bool]:
        if self.failure:
            raise self.failure
        self.settled_at = next(_order)
        where.extend(what)
        return [True] * len(what)


class Worker:
    """One process's deliverer between the two."""

    def __init__(self, **rules: Any) -> None:
        self.main, self.queue, self.log = FakeMain(), FakeQueue(), HeardLog()
        self.breaker, self.redis_breaker = Breaker(self.log), Breaker(self.log)
        self.tally = Tally()
        self.deliverer = Deliverer(
            self.log,
            self.main.client,
            self.breaker,
            self.redis_breaker,
            Pool.model_validate(rules),
            Clock(),
            metrics(),
            self.tally,
        )

    async def deliver(self, *deliveries: Delivery) -> None:
        queue: Any = self.queue
        await self.deliverer.deliver_batch(queue, deliveries)
