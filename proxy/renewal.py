"""A client's new certificate, from the main server.

The proxy only carries: what it sends is signed by the client's old key, so it could renew for
nobody.
"""

import json

import httpx
from fastapi import Request, Response

from gatepost.errors import Malformed, Unavailable
from gatepost.service.asgi import read_body
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of

MAX_BYTES = 32 * 1024


class Renewals:
    def __init__(self, main_server: httpx.AsyncClient) -> None:
        self._main_server = main_server

    async def pass_on(self, request: Request) -> Response:
        """The main server's answer as it is, its refusals too."""
        said = _read(await read_body(request.receive, MAX_BYTES))
        shown = request.scope[CERTIFICATE]
        whole = said | {"fingerprint": shown.fingerprint, "usage": "client"}
        try:
            answer = await self._main_server.post("/internal/certificates/renew", json=whole)
        except httpx.HTTPError:
            raise Unavailable("The main server can't be asked just now. Try again.") from None
        context_of(request.scope).event = "certificate.renewed"
        kind = answer.headers.get("content-type", "application/json")
        return Response(answer.content, answer.status_code, media_type=kind)


def _read(body: bytes) -> dict[str, str]:
    try:
        document = json.loads(body)
        return {name: str(document[name]) for name in ("csr", "signature")}
    except (ValueError, KeyError, TypeError):
        raise Malformed("It is not what `gatepost cert renew` sends.") from None
