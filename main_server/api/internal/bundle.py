"""The calls for the bundle, by proxies, and for the revoked certificates, by them and all who call
us.

An answer that would be the last one again costs a 304: the bundle's ETag is a digest, that of the
revoked certificates is the number of their state.
"""

from hashlib import sha256

import msgspec
from fastapi import APIRouter, Request, Response

from gatepost.errors import Unavailable
from gatepost.service.api import allow
from gatepost.service.revocation_sources import NoAnswer
from gatepost.trust.identity import Role
from gatepost.trust.revocation import encode_revocations
from gatepost.wire.bundle import TIME_HEADER
from main_server.api.context import Context, identify
from main_server.messages.edge.service import make_bundle

_encode = msgspec.json.Encoder().encode


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/internal")

    @router.get("/bundle", dependencies=[allow(identify(context), Role.PROXY)])
    async def bundle(request: Request) -> Response:
        body = _encode(await context.ledger.run(make_bundle, context.keyring, context.clock))
        etag = f'"{sha256(body).hexdigest()[:32]}"'
        headers = {"etag": etag, TIME_HEADER: str(context.clock.now_ms())}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    callers = allow(identify(context), Role.PROXY, Role.WORKER, Role.PORTAL)

    @router.get("/revocations", dependencies=[callers])
    async def revocations(request: Request) -> Response:
        """Read the state from the ledger for each answer: it must not be older than the
        question."""
        given = request.headers.get("if-none-match", "").strip('"')
        seen = int(given) if given.isascii() and given.isdigit() else None
        try:
            state = await context.revocations.ask(seen)
        except NoAnswer as error:
            raise Unavailable(str(error)) from None
        if state is None:
            return Response(status_code=304)
        body = encode_revocations(state)
        return Response(body, media_type="application/msgpack")

    return router
