"""The calls to the main server: which queues there are, deliver, settle.

Deliver names ids first, and sends envelopes only for those that the main server asks for. An answer
that isn't clear is an Outage: nothing is known of these messages, and nobody's attempt is used.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

import httpx
import msgspec

from gatepost.decoding import Undecodable, json_decoder
from gatepost.queue import Delivery
from gatepost.service.tracing import Tracer
from gatepost.wire.contract import (
    NO_ENVELOPE,
    DeliverRequest,
    DeliverResult,
    DeliveryOffer,
    QueueNames,
    Result,
    SettleItem,
    SettleRequest,
    decode_deliver_answer,
    decode_queue_names,
    encode_json,
)
from worker.tracing import Attempts

T = TypeVar("T")

MOST_OPENINGS = 200
"""The most opening brackets in an envelope: it has one itself; a client's name may hold some, and
has 193 characters at most."""


class Outage(Exception):
    """The main server gave no answer about these messages."""


class MainServer:
    def __init__(
        self, client: httpx.AsyncClient, timeout_seconds: float, tracer: Tracer | None = None
    ) -> None:
        self._client = client
        self._timeout = timeout_seconds
        self._tracer = tracer

    async def queues(self) -> QueueNames:
        """Return the queues to serve, and those of them from which nothing is to be delivered
        now."""
        return await self._call("GET", "/internal/queues", None, decode_queue_names)

    async def deliver(
        self, queue: str, deliveries: Sequence[Delivery], *, held: bool = False
    ) -> list[DeliverResult]:
        """Return one result for each delivery, in order. `queue` is the one that they are from;
        from a paused one they are `held`."""
        with Attempts(self._tracer, queue, deliveries) as attempts:
            results = await self._deliver(deliveries, attempts, held)
            attempts.end(results)
        return results

    async def _deliver(
        self, deliveries: Sequence[Delivery], attempts: Attempts, held: bool
    ) -> list[DeliverResult]:
        results = await self._offer([_offer(d, NO_ENVELOPE, attempts, held) for d in deliveries])
        wanted: dict[int, DeliveryOffer] = {}
        for n, result in enumerate(results):
            if result.result is Result.SEND_ENVELOPE:
                if envelope := envelope_of(deliveries[n]):
                    wanted[n] = _offer(deliveries[n], envelope, attempts, held)
                else:
                    results[n] = _unreadable(result.message_id)
        if wanted:
            answers = await self._offer(list(wanted.values()))
            for n, result in zip(wanted, answers, strict=True):
                results[n] = result
        if any(one.result is Result.SEND_ENVELOPE for one in results):
            raise Outage("the main server asks for what it was sent")
        return results

    async def settle(self, settlements: list[SettleItem]) -> None:
        """Tell the ledger how attempts ended; when this returns, the ledger has it."""
        body = encode_json(SettleRequest(settlements))
        await self._call("POST", "/internal/messages/settle", body, lambda _: None)

    async def _offer(self, offers: list[DeliveryOffer]) -> list[DeliverResult]:
        body = encode_json(DeliverRequest(offers))
        answer = await self._call("POST", "/internal/messages/deliver", body, decode_deliver_answer)
        if [one.message_id for one in answer.results] != [one.message_id for one in offers]:
            raise Outage("the main server answers about other messages")
        return answer.results

    async def _call(
        self, method: str, path: str, body: bytes | None, decode: Callable[[bytes], T]
    ) -> T:
        headers = {"content-type": "application/json"} if body else None
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._client.request(method, path, content=body, headers=headers)
        except (httpx.HTTPError, TimeoutError) as error:
            name = type(error).__name__
            raise Outage(f"the main server does not answer: {name}") from None
        if answer.status_code != 200:
            raise Outage(f"the main server answers with status {answer.status_code}")
        try:
            return decode(answer.content)
        except Undecodable:
            raise Outage("the main server's answer can't be read") from None


def envelope_of(delivery: Delivery) -> msgspec.Raw:
    """Return what lay in the queue, to be put into a call unparsed; nothing if it can't be.

    Something that isn't JSON would spoil the whole call, and with it its batch, again and again. So
    would nested JSON: inside the call it can be one level too deep where it was not by itself.
    """
    if sum(delivery.payload.count(one) for one in (b"[", b"{")) > MOST_OPENINGS:
        return NO_ENVELOPE
    try:
        return _as_it_is(delivery.payload)
    except Undecodable:
        return NO_ENVELOPE


_as_it_is = json_decoder(msgspec.Raw)


def _unreadable(message_id: UUID) -> DeliverResult:
    return DeliverResult(message_id=message_id, result=Result.REFUSED, reason="unreadable")


def _offer(
    delivery: Delivery, envelope: msgspec.Raw, attempts: Attempts, held: bool
) -> DeliveryOffer:
    return DeliveryOffer(
        message_id=UUID(bytes=delivery.id),
        attempt=delivery.attempts,
        envelope=envelope,
        traceparent=attempts.traceparent(delivery),
        held=held,
    )
