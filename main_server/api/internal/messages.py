"""Calls of workers and proxies about messages: register, deliver, settle, and where one stands."""

import asyncio
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import msgspec
from fastapi import APIRouter, Request, Response

from gatepost.decoding import Undecodable
from gatepost.errors import FieldError, Invalid, Malformed, NotFound
from gatepost.mistakes import of_msgspec
from gatepost.service.api import HotPost, allow
from gatepost.service.asgi import Receive, Scope, read_body
from gatepost.service.requests import context_of
from gatepost.trust.identity import Role
from gatepost.wire.contract import (
    MAX_ITEMS,
    DeliverAnswer,
    QueueNames,
    RegisterAnswer,
    Result,
    decode_deliver_request,
    decode_register_request,
    decode_settle_request,
    encode_json,
)
from main_server.api.context import Context, identify
from main_server.messages.deliver import deliver
from main_server.messages.edge.service import list_queues
from main_server.messages.register import register
from main_server.messages.settle import settle
from main_server.messages.statuses import find_status
from main_server.messages.tracing import begin_delivering, begin_registering, end_all
from main_server.tenants.pauses.service import list_paused_queues

T = TypeVar("T")

MAX_BYTES = 32 * 1024 * 1024
MAX_COMMAS = 64 * MAX_ITEMS
"""The most commas in a body. An item has a dozen: millions of tiny ones would take the decoder
longer than others can wait."""
LOOKED_AT = 1024 * 1024
"""Bytes of a body that are looked at in one go."""


def create_posts(context: Context) -> list[HotPost]:
    async def register_messages(scope: Scope, receive: Receive) -> bytes:
        wanted = await read_items(receive, decode_register_request)
        _bound(wanted.envelopes)
        spans = begin_registering(context.tracer, wanted.envelopes)
        results = await context.ledger.run(
            register,
            context.keyring,
            context.clock,
            wanted.envelopes,
            queue_skipped=wanted.queue_skipped,
        )
        end_all(spans, results)
        context_of(scope).fields["messages"] = len(results)
        return encode_json(RegisterAnswer(results))

    async def deliver_messages(scope: Scope, receive: Receive) -> bytes:
        offers = (await read_items(receive, decode_deliver_request)).deliveries
        _bound(offers)
        spans = begin_delivering(context.tracer, offers)
        results = await context.ledger.run(deliver, context.keyring, context.clock, offers)
        end_all(spans, results)
        fields = context_of(scope).fields
        fields["deliveries"] = len(results)
        fields["delivered"] = sum(r.result is Result.DELIVERED for r in results)
        return encode_json(DeliverAnswer(results))

    async def settle_messages(scope: Scope, receive: Receive) -> bytes:
        items = (await read_items(receive, decode_settle_request)).settlements
        _bound(items)
        unstorable = await context.ledger.run(settle, context.keyring, items)
        context_of(scope).fields["settlements"] = len(items)
        if unstorable:
            context_of(scope).fields["unstorable"] = unstorable
        return b"{}"

    return [
        HotPost("/internal/messages/register", (Role.PROXY,), register_messages),
        HotPost("/internal/messages/deliver", (Role.WORKER,), deliver_messages),
        HotPost("/internal/messages/settle", (Role.WORKER,), settle_messages),
    ]


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/internal")
    proxies = allow(identify(context), Role.PROXY)
    workers = allow(identify(context), Role.WORKER)

    @router.get("/messages/{message_id}", dependencies=[proxies])
    async def show_message(message_id: UUID, client_id: str) -> dict[str, object]:
        found = await context.ledger.run(find_status, message_id, client_id)
        if found is None:
            raise NotFound()
        return found

    @router.get("/queues", dependencies=[workers])
    async def show_queues(request: Request) -> Response:
        context_of(request.scope).is_poll = True
        names = await context.ledger.run(list_queues)
        paused = await context.ledger.run(list_paused_queues)
        return Response(encode_json(QueueNames(names, paused)), media_type="application/json")

    return router


async def read_items(receive: Receive, decode: Callable[[bytes], T]) -> T:
    body = await read_body(receive, MAX_BYTES)
    if len(body) > LOOKED_AT:
        await asyncio.sleep(0)  # to put its pieces together has taken its time already
    _check_commas(body)
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        raise Invalid(errors=[of_msgspec(error)]) from None
    except Undecodable:
        raise Malformed() from None


def _check_commas(body: bytes) -> None:
    commas = 0
    for at in range(0, len(body), LOOKED_AT):
        commas += body.count(b",", at, at + LOOKED_AT)
        if commas > MAX_COMMAS:
            raise _too_many()


def _bound(items: list[T]) -> None:
    if len(items) > MAX_ITEMS:
        raise _too_many()


def _too_many() -> Invalid:
    return Invalid(errors=[FieldError("", f"holds more than {MAX_ITEMS} items")])
