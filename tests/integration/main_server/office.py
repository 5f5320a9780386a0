"""The main server's application in this process, on the real ledger, as the portal calls it.

It demands a second step of who administers, as it does in production.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, cast
from uuid import uuid4

import httpx
from sqlalchemy import Engine

from gatepost.clock import Clock, from_ms
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.trust.identity import Identity, Role
from main_server.api.context import Context
from main_server.keys.service import Keyring
from main_server.people.users.passwords import Passwords
from main_server.process import create_app
from main_server.store.database import Ledger
from main_server.store.replica.shown import Shown
from tests.heard import HeardLog
from tests.integration.main_server.new_people import PASSWORD, People

_numbers = count()
PORTAL = Identity("gatepost", Role.PORTAL, "portal-1")


class AsPortal:
    """A certificate of the portal's, on every request; nothing is revoked."""

    caller, fingerprint = PORTAL, b""

    def __init__(self, app: Any = None) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope | {CERTIFICATE: self}, receive, send)

    def check(self, _certificate: Any) -> None:
        """As the view of what is revoked."""

    def find(self, _fingerprint: bytes) -> Identity:
        """As the list of callers."""
        return PORTAL


class Stopped(Clock):
    """It stands still: no half minute ends while a test types a code."""

    def __init__(self) -> None:
        super().__init__()
        self._stopped_at = super().now_ms()

    def now_ms(self) -> int:
        return self._stopped_at

    def go_on(self, ms: int) -> None:
        self._stopped_at += ms


@dataclass
class Office:
    app: Any
    http: httpx.AsyncClient
    clock: Stopped
    address: str = field(default_factory=lambda: uuid4().hex)
    """Of the browsers at this one: each office has its own time, and tries are counted by it."""

    @property
    def now(self) -> datetime:
        return from_ms(self.clock.now_ms()).replace(tzinfo=UTC)

    async def sign_in(self, people: People, password: str = PASSWORD) -> httpx.Response:
        said = {"domain": people.domain, "name": people.name, "password": password}
        return await self.http.post("/api/portal/session", json=said | {"address": people.address})

    async def token(self, people: People) -> str:
        answer = await self.sign_in(people)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])

    async def ask(self, token: str, method: str, path: str, **said: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"}
        body = said if method != "GET" else None
        return await self.http.request(method, f"/api/portal{path}", headers=headers, json=body)

    async def give(
        self,
        token: str,
        code: str,
        path: str = "/session/second-step",
        address: str | None = None,
    ) -> httpx.Response:
        return await self.ask(token, "POST", path, code=code, address=address or self.address)


@asynccontextmanager
async def opened_office(
    engine: Engine, ring: Keyring, shown: Shown | None = None
) -> AsyncIterator[Office]:
    ledger, nobody, clock = Ledger(engine, 2), cast(Any, None), Stopped()
    there = cast(Any, AsPortal())
    context = Context(
        ledger,
        shown or Shown(HeardLog(), ledger, clock),
        ring,
        clock,
        there,
        nobody,
        there,
        nobody,
        Passwords(),
        nobody,
        nobody,
        True,
    )
    app = create_app(context)
    whole: Any = Requests(AsPortal(app), HeardLog(), RequestMetrics(f"office{next(_numbers)}"))
    transport = httpx.ASGITransport(whole, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="https://main.example") as http:
        yield Office(app, http, clock)
