"""What workers and proxies ask about messages."""

from uuid import UUID

import msgspec
from fastapi import APIRouter, Request, Response

from gatepost.delivering import MAX_DELIVERIES, DeliverAnswer, Result, decode_request, encode_json
from gatepost.errors import FieldError, Invalid, Malformed, NotFound
from gatepost.identity import Role
from gatepost.service.api import allow
from gatepost.service.asgi import read_body
from gatepost.service.requests import context_of
from main_server.context import Context, identify
from main_server.messages import service

MAX_DELIVER_BYTES = 16 * 1024 * 1024


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/internal/messages")
    proxies = allow(identify(context), Role.PROXY)
    workers = allow(identify(context), Role.WORKER)

    @router.post("/deliver", dependencies=[workers])
    async def deliver(request: Request) -> Response:
        body = await read_body(request.receive, MAX_DELIVER_BYTES)
        try:
            offers = decode_request(body).deliveries
        except msgspec.ValidationError as error:
            raise Invalid(str(error)) from None
        except msgspec.DecodeError:
            raise Malformed() from None
        if len(offers) > MAX_DELIVERIES:
            raise Invalid(errors=[FieldError("/deliveries", f"at most {MAX_DELIVERIES}")])
        results = await context.ledger.run(
            service.deliver, context.keyring, context.clock, context.queue, offers
        )
        fields = context_of(request.scope).fields
        fields["deliveries"] = len(results)
        fields["delivered"] = sum(r.result is Result.DELIVERED for r in results)
        return Response(encode_json(DeliverAnswer(results)), media_type="application/json")

    @router.get("/{message_id}", dependencies=[proxies])
    async def show(message_id: UUID, client_id: str) -> dict[str, object]:
        found = await context.ledger.run(service.find_status, message_id, client_id)
        if found is None:
            raise NotFound()
        return found

    return router
