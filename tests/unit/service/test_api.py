"""FastAPI as we use it: its errors are problems, its pages are not there, a role on every route."""

from itertools import count
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request

from gatepost.errors import NotFound, UnknownCertificate
from gatepost.service.api import allow, create_api
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.trust.identity import Identity, Role
from tests.factories import identity
from tests.heard import HeardLog

_numbers = count()


class Service:
    """An API with a few routes, called by whoever `caller` is."""

    def __init__(self, caller: Identity | None = None) -> None:
        self._caller = caller
        self.log = HeardLog()
        self.api: FastAPI = create_api("test")
        worker = allow(self._identify, Role.WORKER)

        @self.api.get("/worked/{number}", dependencies=[worker])
        async def worked(number: int) -> dict[str, int]:
            return {"number": number}

        @self.api.get("/failed", dependencies=[worker])
        async def failed() -> None:
            raise ValueError("canary-7f3a9")

        @self.api.get("/missing", dependencies=[worker])
        async def missing() -> None:
            raise NotFound

        router = APIRouter(dependencies=[worker])
        for method in ("PUT", "DELETE"):
            router.add_api_route("/worked/{number}", worked, methods=[method])
        self.api.include_router(router)

        @self.api.patch("/worked/{number}/part", dependencies=[worker])
        async def part() -> None:
            pass

    def _identify(self, _request: Request) -> Identity:
        if self._caller is None:
            raise UnknownCertificate
        return self._caller

    async def ask(self, path: str, method: str = "GET") -> httpx.Response:
        app: Any = Requests(self.api, self.log, RequestMetrics(f"api{next(_numbers)}"))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://h"
        ) as client:
            return await client.request(method, path)


WORKER = identity(Role.WORKER, "gatepost", "worker-1")


async def test_the_role_that_is_named_may_call() -> None:
    service = Service(WORKER)
    assert (await service.ask("/worked/7")).json() == {"number": 7}
    (event,) = service.log.of("request.served")
    assert (event["route"], event["caller"]) == ("/worked/{number}", WORKER.uri)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.WORKER])
async def test_no_other_role_may(role: Role) -> None:
    answer = await Service(identity(role, "gatepost", "x")).ask("/worked/7")
    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:gatepost:problem:wrong-role"


async def test_who_is_not_known_may_not_and_learns_nothing_of_the_route() -> None:
    for path in ("/worked/7", "/worked/x"):
        answer = await Service().ask(path)
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:gatepost:problem:unknown-certificate"


def test_a_route_says_its_roles() -> None:
    dependency = allow(lambda _: WORKER, Role.WORKER, Role.PROXY)
    assert dependency.dependency.roles == (Role.WORKER, Role.PROXY)


@pytest.mark.parametrize(
    ("path", "method", "status", "slug"),
    [
        ("/", "GET", 404, "not-found"),
        ("/missing", "GET", 404, "not-found"),
        ("/worked/7/", "GET", 404, "not-found"),
        ("/docs", "GET", 404, "not-found"),
        ("/redoc", "GET", 404, "not-found"),
        ("/openapi.json", "GET", 404, "not-found"),
        ("/worked/7", "POST", 405, "method-not-allowed"),
        ("/worked/canary-7f3a9", "GET", 422, "invalid"),
        ("/failed", "GET", 500, "internal"),
    ],
)
async def test_every_refusal_is_a_problem_that_repeats_nothing(
    path: str, method: str, status: int, slug: str
) -> None:
    answer = await Service(WORKER).ask(path, method)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == f"urn:gatepost:problem:{slug}"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert "canary" not in answer.text
    assert "Traceback" not in answer.text
    if status == 405:
        assert answer.headers["allow"] == "GET, PUT, DELETE"
    if status == 422:
        mistake = {"pointer": "/number", "detail": "must be a whole number"}
        assert answer.json()["errors"] == [mistake]


async def test_of_what_failed_the_log_has_the_type_and_not_the_text() -> None:
    service = Service(WORKER)
    await service.ask("/failed")
    (failed,) = service.log.of("request.failed")
    assert failed["error"] == "ValueError"
    assert "canary" not in str(service.log.heard)
