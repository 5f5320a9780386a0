"""GET /internal/bundle, for proxies; its ETag is a digest, so an unchanged one costs a 304."""

from hashlib import sha256

import msgspec
from fastapi import APIRouter, Request, Response

from gatepost.bundle import TIME_HEADER
from gatepost.identity import Role
from gatepost.service.api import allow
from main_server.context import Context, identify
from main_server.edge.service import make_bundle

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

    return router
