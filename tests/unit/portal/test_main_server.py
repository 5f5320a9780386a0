"""The portal's calls: what hashes a password holds up no page."""

import asyncio

import httpx
import pytest

from gatepost.errors import GatepostError, OutcomeUnknown, Unavailable
from gatepost.wire.people import Person, SignIn, Tokens
from portal.main_server import MainServer
from tests.unit.portal.browser import PERSON


async def test_pages_are_answered_while_passwords_are_looked_at() -> None:
    never = asyncio.Event()

    async def hashing(_request: httpx.Request) -> httpx.Response:
        await never.wait()
        return httpx.Response(204)

    def quick(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=PERSON)

    clients = [
        httpx.AsyncClient(transport=httpx.MockTransport(one), base_url="https://main.example")
        for one in (quick, hashing)
    ]
    main_server = MainServer(*clients)
    wanted = SignIn("example.com", "alice", "a long walk in the fog", "192.0.2.1")
    slow = [
        asyncio.ensure_future(main_server.post("/session", None, wanted, Tokens)),
        asyncio.ensure_future(main_server.tell("POST", "/password", "token", wanted)),
        asyncio.ensure_future(main_server.tell("POST", "/password/reset", None, wanted)),
    ]
    found = await main_server.get("/session", "token", Person)
    assert found.name == "alice"
    done, _ = await asyncio.wait(slow, timeout=0.1)
    assert not done, "they went the other way"
    for one in slow:
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one


@pytest.mark.parametrize(
    ("breaks", "path", "kind"),
    [
        (httpx.ConnectError, "/users", Unavailable),
        (httpx.PoolTimeout, "/users", Unavailable),
        (httpx.ReadTimeout, "/users", OutcomeUnknown),
        (httpx.RemoteProtocolError, "/users", OutcomeUnknown),
        (httpx.ReadTimeout, "/session/refresh", Unavailable),
    ],
)
async def test_what_may_have_been_done_is_not_called_undone(
    breaks: type[httpx.RequestError], path: str, kind: type[GatepostError]
) -> None:
    def broken(_request: httpx.Request) -> httpx.Response:
        raise breaks("CANARY")

    client = httpx.AsyncClient(
        transport=httpx.MockTransport(broken), base_url="https://main.example"
    )
    with pytest.raises(kind) as error:
        await MainServer(client).tell("POST", path, "token")
    assert "CANARY" not in str(error.value)
    with pytest.raises(Unavailable):
        await MainServer(client).get(path, "token", Person)
