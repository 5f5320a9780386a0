"""The way to a client's new certificate, from the main server.

The proxy only carries: the request is signed by the client's old key, so the proxy could renew for
nobody.
"""

import httpx
from fastapi import Request, Response

from gatepost.errors import Malformed, Unavailable
from gatepost.service.asgi import read_body
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import context_of
from proxy.strict_json import parse

MAX_BYTES = 32 * 1024
_PASSED_ON = ("content-type", "retry-after")


class Renewals:
    def __init__(self, main_server: httpx.AsyncClient) -> None:
        self._main_server = main_server

    async def pass_on(self, request: Request) -> Response:
        """Return the main server's answer as it is, its refusals too."""
        said = _read(await read_body(request.receive, MAX_BYTES))
        shown = request.scope[CERTIFICATE]
        whole = said | {"fingerprint": shown.fingerprint, "usage": "client"}
        try:
            answer = await self._main_server.post("/internal/certificates/renew", json=whole)
        except httpx.HTTPError:
            raise Unavailable("The main server can't be asked just now. Try again.") from None
        if answer.is_success:
            context_of(request.scope).event = "certificate.renewed"
        headers = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
        return Response(answer.content, answer.status_code, headers)


def _read(body: bytes) -> dict[str, str]:
    match parse(body):
        case {"csr": str(csr), "signature": str(signature)}:
            return {"csr": csr, "signature": signature}
    raise Malformed("It is not what `gatepost cert renew` sends.")
