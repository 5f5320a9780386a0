"""A browser and a main server around the portal's application, in one process, without a socket.

The main server here signs tokens as the real one does and says what a test wants it to.
"""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gatepost.clock import to_ms
from gatepost.service.access_tokens import Claims, Signer, mint
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.wire.people import UserRole
from portal.app import create_app
from portal.assets import Assets
from portal.context import Context
from portal.keys import Keys
from portal.main_server import MainServer
from portal.rendering import Pages
from tests.heard import HeardLog

ORIGIN = "https://portal.example:8080"
_numbers = count()
KEPT: dict[str, Any] = {
    "domain": "example.com",
    "client_id": None,
    "retention_days": 30,
    "own_days": None,
    "usual_days": 30,
    "may_set": True,
    "holds": [],
    "next_day": "2026-10-18",
    "next_at": "2026-11-19T00:00:00.000Z",
    "last_run_at": None,
}
ASSETS = Assets()
PERSON = {
    "name": "alice",
    "domain": "example.com",
    "role": "user",
    "client_ids": ["example.com:client_001"],
    "signed_in_at": "2026-11-18T10:00:00.000Z",
    "last_login_at": None,
}
ACCOUNT: dict[str, Any] = {
    "user_id": "u",
    "name": "bob",
    "domain": "example.com",
    "role": "user",
    "client_ids": [],
    "created_at": "2026-11-18T10:00:00.000Z",
    "disabled_at": None,
    "last_login_at": None,
}
"""As administrators see one."""


class FakeMainServer:
    """Answers by `answers` (method and path to status and document), else as all were well."""

    def __init__(self) -> None:
        self.signer = Signer("k1", Ed25519PrivateKey.generate())
        self.heard: list[httpx.Request] = []
        self.answers: dict[str, tuple[int, Any]] = {}
        self.away = False
        self.role = UserRole.USER
        self.time_zone: str | None = None
        self.ahead = timedelta(0)
        """Of the clock here."""

    def token(self, age: timedelta = timedelta(0)) -> str:
        who = ("alice", "example.com", self.role, self.time_zone)
        claims = Claims(uuid4(), uuid4(), *who)
        return mint(self.signer, claims, [], datetime.now(UTC) + self.ahead - age)

    def refuse(self, call: str, status: int, slug: str, detail: str = "No.", **more: Any) -> None:
        problem = {"type": f"urn:gatepost:problem:{slug}", "detail": detail, "status": status}
        self.answers[call] = status, problem | more

    def calls(self) -> list[str]:
        return [f"{one.method} {one.url.path.removeprefix('/api/portal')}" for one in self.heard]

    def said(self) -> Any:
        return json.loads(self.heard[-1].content)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.heard.append(request)
        if self.away:
            raise httpx.ConnectError("refused")
        call = self.calls()[-1]
        status, document = self.answers.get(call) or self._usual(call)
        return httpx.Response(status, json=document)

    def _usual(self, call: str) -> tuple[int, Any]:
        match call:
            case "GET /keys":
                key = self.signer.key.public_key().public_bytes_raw().hex()
                now = datetime.now(UTC) + self.ahead
                keys = [{"kid": self.signer.kid, "key": key}]
                return 200, {"keys": keys, "now_ms": to_ms(now)}
            case "POST /session" | "POST /session/refresh":
                return 200, {"access_token": self.token(), "refresh_token": "fresh"}
            case "POST /password/reset":
                return 200, {"browser": "by a link", "domain": "example.com"}
            case "GET /session":
                return 200, PERSON
            case "GET /endings":
                return 200, {"certificates": []}
        if call.startswith("GET /retention/"):
            return 200, KEPT
        return 204, None


class Browser:
    """Keeps cookies, sends forms with their hidden field, and doesn't follow by itself."""

    def __init__(self, main: FakeMainServer | None = None, own: tuple[Path, ...] = ()) -> None:
        self.main = main or FakeMainServer()
        self.log = HeardLog()
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self.main), base_url="https://main.example"
        )
        self.keys = Keys()
        self.main_server = MainServer(client)
        self.stop = asyncio.Event()
        pages = Pages(ASSETS)
        context = Context(
            self.main_server, self.keys, pages, ASSETS, "gatepost", (), own, self.stop
        )
        app: Any = Requests(
            create_app(context, strict_transport=True),
            self.log,
            RequestMetrics(f"portal{next(_numbers)}"),
        )
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url=ORIGIN
        )

    async def get(self, path: str) -> httpx.Response:
        return await self.http.get(path)

    async def send(
        self, path: str, page: str | None = None, headers: Any = None, **fields: str
    ) -> httpx.Response:
        """The form at `path`, filled in on the page that shows it."""
        shown = (await self.get(page or path)).text
        found = re.search(r'name="form" value="([^"]+)"', shown)
        assert found, shown
        browsers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
        whole = {"form": found[1]} | fields
        return await self.http.post(path, data=whole, headers=browsers | (headers or {}))

    async def sign_in(self, path: str = "/login", **fields: str) -> httpx.Response:
        filled = {"name": "alice@example.com", "password": "a long walk in the fog"} | fields
        return await self.send(path, **filled)
