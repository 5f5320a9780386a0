"""What partners call: POST /api/v1/messages, its status, and who they are.

The POST is a plain ASGI function beside FastAPI: it is the hot path, and the framework's own
handling of a body costs more than all of ours together.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from fastapi import FastAPI, Request

from gatepost.bundle import KnownClient
from gatepost.clock import iso
from gatepost.errors import MethodNotAllowed, NotFound, UnsupportedMediaType
from gatepost.identity import Identity, Role
from gatepost.service.api import allow, create_api
from gatepost.service.asgi import Receive, Scope, Send, header, read_body, respond, too_large
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from proxy.admission import admit
from proxy.intake import Accepted, Intake, Trace
from proxy.limits import Limits
from proxy.senders import Senders
from proxy.settings import Validation
from proxy.statuses import Statuses

MESSAGES = "/api/v1/messages"
MAX_BODY_BYTES = 16 * 1024

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Edge:
    """What the endpoints of one process work with."""

    senders: Senders
    limits: Limits
    rules: Validation
    intake: Intake
    statuses: Statuses


def create_app(edge: Edge) -> Any:
    api = _create_reading_api(edge)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != MESSAGES:
            await api(scope, receive, send)
        elif scope["method"] == "POST":
            await accept_message(edge, scope, receive, send)
        else:
            raise MethodNotAllowed("POST")

    return app


async def accept_message(edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
    """One message: who sends it, whether it may, what it is; then seal, commit, answer."""
    context = context_of(scope)
    context.route = MESSAGES
    client = edge.senders.identify(scope[CERTIFICATE])
    context.fields["client_id"] = client.identity.client_id
    edge.senders.check_host(header(scope, b"host"), client)
    edge.limits.take(client)
    _check_headers(scope)
    body = await read_body(receive, MAX_BODY_BYTES)
    submission = admit(body, client.identity, edge.rules)

    trace = Trace(context.request_id, context.traceparent)
    envelope = edge.intake.envelop(submission, client, edge.senders, trace)
    context.fields["message_id"] = str(envelope.message_id)
    await edge.intake.commit(envelope)

    context.event = "message.accepted"
    accepted = Accepted(envelope.message_id, "queued", iso(envelope.queued_at), "queue")
    location = f"{MESSAGES}/{envelope.message_id}".encode()
    await respond(send, 202, _encode(accepted), headers=[(b"location", location)])


def _check_headers(scope: Scope) -> None:
    media_type, _, parameters = (header(scope, b"content-type") or b"").lower().partition(b";")
    charset = parameters.replace(b" ", b"").replace(b'"', b"")
    if media_type.strip() != b"application/json" or charset not in (b"", b"charset=utf-8"):
        raise UnsupportedMediaType()
    if (header(scope, b"content-encoding") or b"identity").lower() != b"identity":
        raise UnsupportedMediaType()
    length = header(scope, b"content-length") or b"0"
    if length.isdigit() and int(length[:20]) > 64 * MAX_BODY_BYTES:
        raise too_large(MAX_BODY_BYTES)


def _create_reading_api(edge: Edge) -> FastAPI:
    api = create_api("Gatepost proxy")

    def client_of(request: Request) -> KnownClient:
        client = edge.senders.identify(request.scope[CERTIFICATE])
        edge.senders.check_host(header(request.scope, b"host"), client)
        return client

    def identify(request: Request) -> Identity:
        return client_of(request).identity

    caller = allow(identify, Role.CLIENT)

    @api.get(MESSAGES + "/{message_id}")
    async def show_message(
        request: Request, message_id: str, identity: Identity = caller
    ) -> dict[str, Any]:
        try:
            wanted = UUID(message_id)
        except ValueError:
            raise NotFound() from None
        if str(wanted) != message_id:
            raise NotFound()
        queue = edge.senders.queue_of(client_of(request))
        return await edge.statuses.show(wanted, identity, queue)

    @api.get("/api/v1/whoami")
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

    return api
