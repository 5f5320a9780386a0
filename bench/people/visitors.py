"""People at the portal: signed in by a browser's way, each from an address of their own."""

import re
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
from sqlalchemy import Engine

from gatepost.wire.people import UserRole
from main_server.people.users import service
from main_server.people.users.passwords import hash_password
from main_server.people.users.service import NewUser

PASSWORD = "a long walk in the fog"
_FORM = re.compile(r'name="form" value="([^"]+)"')
_NEXT = re.compile(r'rel="next" href="([^"]+)"')
_LISTED = re.compile(r'href="/messages/([0-9a-f-]{36})"')


@dataclass(frozen=True, slots=True)
class Look:
    """One page: milliseconds until its first byte came, and its last."""

    status: int
    first_ms: float
    whole_ms: float
    text: str

    @property
    def following(self) -> str | None:
        found = _NEXT.search(self.text)
        return found[1].replace("&amp;", "&") if found else None

    @property
    def listed(self) -> list[str]:
        return _LISTED.findall(self.text)


def add_person(
    engine: Engine, domain: str, name: str, role: UserRole, clients: list[str], hashed: str
) -> None:
    now = datetime.now(UTC)
    wanted = NewUser(domain, name, role, frozenset(clients))
    user = service.create(engine, wanted, now, "bench")
    service.set_password(engine, user, hashed, now, "bench")


def make_hash() -> str:
    return hash_password(PASSWORD)


class Visitor:
    """Somebody with a browser that keeps its connection."""

    def __init__(self, url: str, ca: str, address: str) -> None:
        context = ssl.create_default_context(cafile=ca)
        transport = httpx.AsyncHTTPTransport(verify=context, local_address=address)
        self._url = url
        self._http = httpx.AsyncClient(base_url=url, transport=transport, timeout=60)

    async def sign_in(self, domain: str, name: str) -> None:
        path = f"/d/{domain}/login"
        found = _FORM.search((await self._http.get(path)).text)
        assert found
        answer = await self._http.post(
            path,
            data={"form": found[1], "name": name, "password": PASSWORD},
            headers={"origin": self._url, "sec-fetch-site": "same-origin"},
        )
        if answer.status_code != 303:
            raise AssertionError(f"{name} can't sign in: {answer.status_code}")

    async def look(self, path: str) -> Look:
        started = time.perf_counter()
        async with self._http.stream("GET", path) as answer:
            first: float | None = None
            parts = []
            async for part in answer.aiter_bytes():
                first = first or time.perf_counter()
                parts.append(part)
        ended = time.perf_counter()
        look = Look(
            answer.status_code,
            ((first or ended) - started) * 1000,
            (ended - started) * 1000,
            b"".join(parts).decode(),
        )
        if look.status != 200:
            raise AssertionError(f"{path}: {look.status}")
        return look

    async def close(self) -> None:
        await self._http.aclose()
