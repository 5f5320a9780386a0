"""The endpoints that partners call: post a message or a batch, ask for a message's status, ask who
they are.

The posts are plain ASGI functions beside FastAPI: they are the hot path, and the framework's own
handling of a body costs more than all of ours together.
"""

from typing import Any
from uuid import UUID

import msgspec
from fastapi import Depends, FastAPI, Request, Response

from gatepost.clock import iso
from gatepost.errors import MethodNotAllowed, NotFound
from gatepost.service.api import allow, create_api
from gatepost.service.asgi import Receive, Scope, Send, read_body, respond
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from gatepost.trust.identity import Identity, Role
from gatepost.wire.bundle import KnownClient
from proxy.admission import admit
from proxy.batch import accept_batch
from proxy.edge import Edge, check_open, domain_of, sender_of, take_token
from proxy.headers import check_body_headers, idempotency_key
from proxy.intake import Trace
from proxy.limits import Use

MESSAGES = "/api/v1/messages"
BATCH = "/api/v1/messages/batch"
MAX_BODY_BYTES = 16 * 1024

_encode = msgspec.json.Encoder().encode
POSTS = (MESSAGES, BATCH)


def create_app(edge: Edge) -> Any:
    api = create_reading_api(edge)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path not in POSTS:
            await api(scope, receive, send)
            return
        context_of(scope).route = path
        if scope["method"] != "POST":
            raise MethodNotAllowed("POST")
        check_open(edge)
        post = accept_message if path == MESSAGES else accept_batch
        await post(edge, scope, receive, send)

    return app


async def accept_message(edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
    """Accept one message: who sends it, whether it may, what it is; then seal, commit, answer."""
    context = context_of(scope)
    client = sender_of(edge, scope)
    domain = domain_of(edge, client)
    await take_token(edge, scope, client)
    check_body_headers(scope, MAX_BODY_BYTES, b"application/json")
    key = idempotency_key(scope)
    body = await read_body(receive, MAX_BODY_BYTES)
    submission = admit(body, client.identity, edge.rules)
    if context.span is not None:
        context.span.step("admit")

    trace = Trace(context.request_id, context.traceparent, context.span)
    accepted, replayed = await edge.intake.accept(submission, client, key, trace)
    edge.depths.accepted(domain)

    context.event = "message.accepted"
    context.fields["message_id"] = str(accepted.message_id)
    context.fields["durability"] = accepted.durability
    headers = [(b"location", f"{MESSAGES}/{accepted.message_id}".encode())]
    if replayed:
        headers.append((b"idempotency-replayed", b"true"))
        context.fields["replayed"] = True
    await respond(send, 202, _encode(accepted), headers=headers)


def create_reading_api(edge: Edge) -> FastAPI:
    api = create_api("Gatepost proxy")

    def client_of(request: Request) -> KnownClient:
        return sender_of(edge, request.scope)

    def identify(request: Request) -> Identity:
        return client_of(request).identity

    caller = allow(identify, Role.CLIENT)

    counted = _counted(edge)

    @api.get(MESSAGES + "/{message_id}", dependencies=[caller, counted])
    async def show_message(
        request: Request, message_id: str, identity: Identity = caller
    ) -> dict[str, Any]:
        try:
            wanted = UUID(message_id)
        except ValueError:
            raise NotFound() from None
        if str(wanted) != message_id:
            raise NotFound()
        domain = edge.senders.domain_of(client_of(request))
        return await edge.statuses.show(wanted, identity, domain.queue)

    @api.get("/api/v1/whoami", dependencies=[caller, counted])
    async def whoami(request: Request, identity: Identity = caller) -> dict[str, Any]:
        certificate = request.scope[CERTIFICATE]
        client = client_of(request)
        return {
            "client_id": identity.client_id,
            "domain": identity.domain,
            "role": identity.role,
            "name": identity.name,
            "certificate": {
                "fingerprint": certificate.fingerprint,
                "serial": certificate.serial,
                "not_before": iso(int(certificate.not_before.timestamp() * 1000)),
                "not_after": iso(int(certificate.not_after.timestamp() * 1000)),
            },
            "limits": {"rate_per_second": client.rate_per_second, "burst": client.burst},
            "formats": {"max_body_characters": edge.rules.max_body_length},
        }

    @api.post("/api/v1/certificates/renew", dependencies=[caller])
    async def renew(request: Request) -> Response:
        await take_token(edge, request.scope, client_of(request))
        return await edge.renewals.pass_on(request)

    return api


def _counted(edge: Edge) -> Any:
    """Make a dependency that limits how often a client asks. A client that sends at its full rate
    can still ask."""

    async def count(request: Request) -> None:
        client = sender_of(edge, request.scope)
        await take_token(edge, request.scope, client, use=Use.ASKING)

    return Depends(count)
