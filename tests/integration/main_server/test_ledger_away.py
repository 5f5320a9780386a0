"""A ledger that breaks off: who asks is told to come again, and it is called no fault of ours."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from gatepost.clock import Clock
from gatepost.service.api import HotPosts, create_api
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.trust.identity import Identity, Role
from gatepost.wire.contract import (
    DeliverRequest,
    DeliveryOffer,
    RegisterRequest,
    SettleItem,
    Settlement,
    SettleRequest,
    encode_json,
)
from gatepost.wire.envelope import encode
from infra.dev.engines import MariaServer
from main_server.api import administrators as administrator
from main_server.api.admin import clients
from main_server.api.internal import messages as endpoints
from main_server.api.pki import PkiApp
from main_server.keys.service import Keyring
from main_server.store.database import Ledger, RequestLedger, is_outage, transact
from tests.factories import envelope, ids
from tests.heard import HeardLog
from tests.integration.main_server.conftest import engine_of
from tests.wire import Wire


@pytest.fixture
def wire(maria_server: MariaServer) -> Iterator[Wire]:
    with Wire(maria_server.port) as wire:
        yield wire


@pytest.fixture
def ledger(wire: Wire, engine: Engine, database_url: str, maria_server: MariaServer) -> Any:
    assert engine, "migrated"
    through = database_url.replace(f":{maria_server.port}/", f":{wire.port}/")
    assert through != database_url
    return Ledger(engine_of(through), 4)


@pytest.fixture
def log() -> HeardLog:
    return HeardLog()


@pytest.fixture
async def client(
    ledger: Ledger, ring: Keyring, log: HeardLog, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    def who(_context: Any) -> Any:
        return lambda request: Identity("gatepost", role_of(request.url.path), "x")

    api, clock = create_api("test"), Clock()
    context: Any = SimpleNamespace(
        ledger=RequestLedger(ledger), keyring=ring, clock=clock, tracer=None
    )
    for module in (administrator, endpoints):
        monkeypatch.setattr(module, "identify", who)
    admin = administrator.by_certificate(context)
    api.include_router(clients.create_router(context, "/admin", admin))
    api.include_router(endpoints.create_router(context))
    hot = HotPosts(api, who(context), endpoints.create_posts(context))
    ca: Any = SimpleNamespace(
        ledger=ledger, authorities=SimpleNamespace(signing=SimpleNamespace(kid="0" * 40))
    )
    pki = PkiApp(ca)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (pki if scope["path"].startswith("/crl") else hot)(scope, receive, send)

    whole = Requests(app, log, RequestMetrics(f"test_{uuid4().hex}"))
    transport = httpx.ASGITransport(whole)
    async with httpx.AsyncClient(transport=transport, base_url="http://main") as client:
        yield client


def role_of(path: str) -> Role:
    if path.startswith("/admin"):
        return Role.ADMIN
    return Role.PROXY if "register" in path or path.count("-") > 2 else Role.WORKER


def asked(ring: Keyring) -> dict[str, bytes | None]:
    """One of each: what FastAPI serves, the hot posts, the PKI port."""
    one, now = ids.new(), 1_700_000_000_000
    item = SettleItem(
        message_id=one,
        attempt=1,
        outcome=Settlement.RETRY,
        reason="refused",
        started_at=now,
        ended_at=now,
    )
    sealed = msgspec.Raw(encode(envelope(ring)))
    offer = DeliveryOffer(message_id=one, attempt=1)
    return {
        "/admin/clients": None,
        "/internal/queues": None,
        f"/internal/messages/{one}?client_id=example.com:a": None,
        "/internal/messages/register": encode_json(RegisterRequest([sealed])),
        "/internal/messages/deliver": encode_json(DeliverRequest([offer])),
        "/internal/messages/settle": encode_json(SettleRequest([item])),
        "/crl.pem": None,
    }


async def answers(client: httpx.AsyncClient, ring: Keyring) -> dict[str, httpx.Response]:
    return {
        path: await (client.get(path) if body is None else client.post(path, content=body))
        for path, body in asked(ring).items()
    }


async def test_who_asks_meanwhile_is_told_to_come_again(
    client: httpx.AsyncClient, wire: Wire, ring: Keyring, log: HeardLog
) -> None:
    before = await answers(client, ring)
    assert {one.status_code for one in before.values()} <= {200, 404}, before
    await asyncio.to_thread(wire.refuse)
    for path, answer in (await answers(client, ring)).items():
        assert answer.status_code == 503, path
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["type"] == "urn:gatepost:problem:ledger-unavailable"
    await asyncio.to_thread(wire.accept)
    after = await answers(client, ring)
    assert {one.status_code for one in after.values()} <= {200, 404}, after
    assert log.of("request.failed") == []
    problems = {one.get("problem") for one in log.of("request.served") if one["status"] == 503}
    assert problems == {"urn:gatepost:problem:ledger-unavailable"}


async def test_what_the_ledger_can_not_do_is_a_fault_of_ours(ledger: Ledger) -> None:
    def wrong(engine: Engine) -> None:
        transact(engine, lambda c: c.execute(text("SELECT nonsense FROM nowhere")))

    with pytest.raises(ProgrammingError):
        await RequestLedger(ledger).run(wrong)


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        *((OperationalError("", {}, Exception(code, "")), True) for code in (2003, 2013, 1053)),
        *((OperationalError("", {}, Exception(code, "")), False) for code in (1267, 1366, 1054)),
        (OperationalError("", {}, Exception()), False),
        (PoolTimeout(), True),
        (ProgrammingError("", {}, Exception(2013, "")), False),
    ],
    ids=str,
)
def test_only_what_may_be_over_soon_is_an_outage(error: SQLAlchemyError, is_one: bool) -> None:
    assert is_outage(error) is is_one
