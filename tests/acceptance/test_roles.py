"""A certificate is a role (I9): every internal route with every role's certificate.

The routes come from the application itself: one that is declared without a role fails here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi.routing import APIRoute

from gatepost.trust.identity import Identity, Role
from main_server.process import create_app
from proxy.endpoints import POSTS, create_reading_api
from tests.acceptance.site import Site, accepted, eventually, post
from tests.factories import Pair, Pki, identity, ids

CALLERS = [role for role in Role if role is not Role.CLIENT]


def routes_of(router: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each route of an application with its path, those of included routers too."""
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            context = getattr(route, "include_context", None)
            yield from routes_of(inner, prefix + getattr(context, "prefix", ""))
        else:
            yield prefix + route.path, route


def roles_of(route: Any) -> tuple[Role, ...] | None:
    """What a route says of who may call it."""
    for dependency in getattr(getattr(route, "dependant", None), "dependencies", ()):
        if roles := getattr(dependency.call, "roles", None):
            return tuple(roles)
    return None


APP = create_app(None)  # type: ignore[arg-type]
ROUTES = list(routes_of(APP.api))
MATRIX = [("POST", post.path, post.roles) for post in APP.posts.values()] + [
    (method, path, roles_of(route) or ())
    for path, route in ROUTES
    if isinstance(route, APIRoute)
    for method in sorted(route.methods or ())
]


EDGE_ROUTES = list(routes_of(create_reading_api(None)))  # type: ignore[arg-type]
EDGE_MATRIX = [("POST", path) for path in POSTS] + [
    (method, path) for path, route in EDGE_ROUTES for method in sorted(route.methods)
]


@pytest.fixture(scope="package")
def certificates(site: Site) -> dict[Role, Pair]:
    """One for each role, all of them known to the ledger."""
    found: dict[Role, Pair] = {
        role: site.issue(Identity("gatepost", role, f"{role}-{uuid4().hex[:8]}"))
        for role in CALLERS
    }
    found[Role.CLIENT] = site.issue(identity(name=f"client-{uuid4().hex[:8]}"))

    def is_known(pair: Pair) -> bool:
        with site.calling(pair.files, "main_server") as client:
            return "unknown-certificate" not in client.get("/internal/queues").text

    for pair in found.values():
        eventually(lambda pair=pair: is_known(pair), "the main server knows it")  # type: ignore[misc]
    return found


def ask(client: httpx.Client, method: str, path: str) -> httpx.Response:
    return client.request(method, path.replace("{message_id}", str(ids.new())), json={})


def test_there_are_routes_to_be_tested() -> None:
    paths = {path for _, path, _ in MATRIX}
    assert {
        "/internal/bundle",
        "/internal/messages/register",
        "/internal/messages/deliver",
    } <= paths


@pytest.mark.parametrize(
    ("path", "route"), ROUTES + EDGE_ROUTES, ids=[path for path, _ in ROUTES + EDGE_ROUTES]
)
def test_every_route_says_who_may_call_it(path: str, route: Any) -> None:
    assert isinstance(route, APIRoute), f"{path} is no route that could be tested"
    assert roles_of(route), f"{path} is declared without a role"


@pytest.mark.parametrize(("method", "path", "allowed"), MATRIX)
def test_it_answers_the_roles_that_it_names_and_no_other(
    site: Site,
    certificates: dict[Role, Pair],
    method: str,
    path: str,
    allowed: tuple[Role, ...],
) -> None:
    for role, pair in certificates.items():
        with site.calling(pair.files, "main_server") as client:
            answer = ask(client, method, path)
        if role in allowed:
            assert answer.status_code not in (403, 500, 503), (role, answer.text)
        else:
            assert answer.status_code == 403, role
            assert answer.json()["type"] == "urn:gatepost:problem:wrong-role"
            assert answer.headers["content-type"] == "application/problem+json"


def test_nothing_is_there_beside_the_routes(site: Site, certificates: dict[Role, Pair]) -> None:
    for role in (Role.ADMIN, Role.PROXY, Role.CLIENT):
        with site.calling(certificates[role].files, "main_server") as client:
            for path in (
                "/",
                "/docs",
                "/openapi.json",
                "/redoc",
                "/internal",
                "/healthz",
                "/metrics",
            ):
                assert client.get(path).status_code == 404, path


@pytest.mark.parametrize("role", CALLERS)
@pytest.mark.parametrize(("method", "path"), EDGE_MATRIX)
def test_the_proxy_answers_clients_alone(
    site: Site, certificates: dict[Role, Pair], role: Role, method: str, path: str
) -> None:
    with site.calling(certificates[role].files) as caller:
        answer = ask(caller, method, path)
    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:gatepost:problem:wrong-role"


def test_a_certificate_of_our_ca_that_the_ledger_does_not_know_is_refused(
    site: Site, tmp_path: Path
) -> None:
    """Whoever signed it: unknown means refused, at the edge as inside."""
    pki = Pki(site.stack.place.folder / "ca", tmp_path)
    client = pki.issue(identity(name="forged"))
    twin = pki.issue(identity())  # of a name that is known, with another key
    worker = pki.issue(Identity("gatepost", Role.WORKER, "worker-1"))
    for pair in (client, twin):
        with site.calling(pair.files) as caller:
            assert caller.get("/api/v1/whoami").status_code == 403
            assert post(caller).status_code == 403
    with site.calling(worker.files, "main_server") as caller:
        answer = caller.get("/internal/queues")
    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:gatepost:problem:unknown-certificate"


def test_what_a_client_says_of_itself_does_not_matter(site: Site) -> None:
    """Headers by which other servers are told who calls."""
    fooling = {
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-client-cert": "URI=gatepost://gatepost/admin/admin",
        "x-client-cert": "gatepost://gatepost/worker/worker-1",
        "x-real-ip": "127.0.0.1",
        "forwarded": "for=127.0.0.1;host=example.org",
        "authorization": "Bearer admin",
    }
    with site.calling() as client:
        told = client.get("/api/v1/whoami", headers=fooling).json()
        assert told["client_id"] == "example.com:client_001"
        accepted(post(client, headers=fooling))
    with site.calling(service="main_server") as client:
        assert client.get("/internal/bundle", headers=fooling).status_code == 403
