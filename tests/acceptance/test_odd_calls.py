"""What nobody would send by mistake, at every route of the main server, from whoever may call it:
an answer that says what is wrong with it, and never that something went wrong here."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_from_bytes

import httpx
import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel

from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from tests.acceptance.site import Site, eventually
from tests.acceptance.test_roles import MATRIX, ROUTES
from tests.acceptance.towns import Town

BODIES = (
    b"",
    b"\xff\xfe",
    b'{"\xff": 1}',
    b'{"name": "\xed\xa0\x80"}',
    b'{"name": "\\ud800"}',
    b"[" * 3_000,
    b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
    b"[" * 700 + b"]" * 700,
    b"9" * 6_000,
    b'{"minutes": 1e999, "days": NaN}',
    b"null",
    b"[]",
    b'{"name": "a", "name": "b"}',
)
VALUES = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"9" * 400,
    b"-1",
    b"NaN",
    b"1e400",
    b"0001-01-01T00:00:00+14:00",
    b"9999-12-31T23:59:59.999999-14:00",
    b"0001-01-01",
    "\u0663\u0663".encode(),
    "\U0001f4a9'\"\\".encode(),
    b"a" * 3_000,
    b"%",
)
IN_PATHS = (b"\xff", b"%00", "\U0001f4a9".encode(), b"9" * 400)
SIGNS_OUT = {("DELETE", "/api/portal/session"), ("DELETE", "/api/portal/sessions")}
"""They need no body, and whoever goes on would be nobody."""


class Callers:
    """Who calls a route: a program by its certificate, a person by way of the portal."""

    def __init__(self, site: Site, portal: httpx.Client, token: str) -> None:
        self._portal, self._token = portal, token
        self._programs = {role: self._program(site, role) for role in (Role.PROXY, Role.WORKER)}
        self._programs[Role.ADMIN] = site.calling("admin", "main_server")

    def ask(self, roles: tuple[Role, ...], method: str, path: str, **given: Any) -> httpx.Response:
        if Role.PORTAL in roles:
            headers = {"authorization": f"Bearer {self._token}"}
            return self._portal.request(method, path, headers=headers, **given)
        return self._programs[next(one for one in roles if one in self._programs)].request(
            method, path, **given
        )

    def close(self) -> None:
        for one in self._programs.values():
            one.close()

    @staticmethod
    def _program(site: Site, role: Role) -> httpx.Client:
        pair = site.issue(Identity("gatepost", role, f"{role}-hostile"))
        client = site.calling(pair.files, "main_server")
        words = "unknown-certificate"
        eventually(lambda: words not in client.get("/internal/queues").text, "it is known")
        return client


@pytest.fixture(scope="module")
def callers(site: Site, portal: httpx.Client) -> Iterator[Callers]:
    reader = Town(site, portal).reader(UserRole.SUPER_ADMIN, domain="gatepost")
    callers = Callers(site, portal, reader.token)
    yield callers
    callers.close()


def plain(path: str) -> str:
    """With something in each place, that nobody is called."""
    return "/".join("nobody" if part.startswith("{") else part for part in path.split("/"))


def asked_by_address(route: APIRoute) -> Iterator[str]:
    for param in route.dependant.query_params:
        kind = param.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from kind.model_fields
        else:
            yield param.alias


def assert_answered(answer: httpx.Response, what: object) -> None:
    assert answer.status_code < 500, (answer.request.method, answer.request.url, what)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"


def test_no_body_is_answered_as_a_fault_of_ours(callers: Callers) -> None:
    for method, path, roles in MATRIX:
        if method == "GET" or (method, path) in SIGNS_OUT:
            continue
        for body in BODIES:
            assert_answered(callers.ask(roles, method, plain(path), content=body), body[:40])


def test_no_address_is_answered_as_a_fault_of_ours(callers: Callers) -> None:
    routes = {path: route for path, route in ROUTES if isinstance(route, APIRoute)}
    for method, path, roles in MATRIX:
        for place in (part for part in path.split("/") if part.startswith("{")):
            for value in IN_PATHS:
                whole = plain(path.replace(place, quote_from_bytes(value, safe="%")))
                if (method, path) not in SIGNS_OUT:
                    assert_answered(callers.ask(roles, method, whole), value[:40])
        names = asked_by_address(routes[path]) if method == "GET" and path in routes else ()
        for name in names:
            for value in VALUES:
                query = f"?{name}={quote_from_bytes(value)}"
                assert_answered(callers.ask(roles, method, plain(path) + query), value[:40])


def test_nothing_at_the_pki_port_is_answered_as_a_fault_of_ours(site: Site) -> None:
    """Anybody may ask there; of enrolments some are left for others who test at this stack."""
    asked = [("POST", "/ocsp", body) for body in BODIES]
    asked += [("POST", "/enrol", body) for body in BODIES[1:8:2]]
    for value in VALUES:
        places = ("/ocsp/", "/crl/", "/ca/", "/")
        asked += [("GET", place + quote_from_bytes(value, safe="%"), b"") for place in places]
    with httpx.Client(base_url=site.url("pki"), trust_env=False) as stranger:
        for method, path, body in asked:
            answer = stranger.request(method, path, content=body)
            assert answer.status_code < 500, (method, path, body[:40])
