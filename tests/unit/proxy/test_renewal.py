"""What the proxy carries of a renewal, to the main server and back."""

from typing import Any

import httpx
import pytest
from fastapi import Request, Response

from gatepost.errors import Malformed
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import Context
from proxy.renewal import Renewals
from tests.unit.proxy.caller import HeldCertificate

ASKED = b'{"csr": "Y3Ny", "signature": "c2ln"}'


async def carried(body: bytes, answer: httpx.Response) -> tuple[Response, Context, list[bytes]]:
    """The proxy's answer, what its event says, and what the main server was sent."""
    sent: list[bytes] = []

    def main_server(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return answer

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    context = Context("id", "trace")
    shown = HeldCertificate("ab" * 32, None)
    scope = {"type": "http", "gatepost.context": context, CERTIFICATE: shown}
    transport = httpx.MockTransport(main_server)
    async with httpx.AsyncClient(transport=transport, base_url="https://main") as client:
        said = await Renewals(client).pass_on(Request(scope, receive))
    return said, context, sent


async def test_what_is_given_is_passed_on_as_it_is() -> None:
    said, context, sent = await carried(ASKED, httpx.Response(201, json={"cert": "PEM"}))
    assert (said.status_code, said.body) == (201, b'{"cert":"PEM"}')
    assert context.event == "certificate.renewed"
    (one,) = sent
    assert httpx.Response(200, content=one).json() == {
        "csr": "Y3Ny", "signature": "c2ln", "fingerprint": "ab" * 32, "usage": "client"
    }  # fmt: skip


async def test_a_refusal_says_when_to_come_back_and_is_no_renewal() -> None:
    headers = {"retry-after": "7", "content-type": "application/problem+json", "x-own": "1"}
    said, context, _ = await carried(ASKED, httpx.Response(503, headers=headers, content=b"{}"))
    assert said.status_code == 503
    assert said.headers["retry-after"] == "7"
    assert said.headers["content-type"] == "application/problem+json"
    assert "x-own" not in said.headers
    assert context.event == "request.served"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"1", b"\xff", b"[" * 30_000, b'{"csr": ' + b"[" * 30_000, b'{"csr": "a"}',
        b'{"csr": 1, "signature": "a"}', b'{"csr": "a", "signature": null}',
        b'{"csr": "a", "signature": "b", "csr": "c"}',
    ],
)  # fmt: skip
async def test_what_is_no_renewal_is_told_so_and_goes_nowhere(body: bytes) -> None:
    with pytest.raises(Malformed):
        await carried(body, httpx.Response(500))
