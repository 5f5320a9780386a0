"""What surrounds every request: ids that are ours to trust, one event, problems without secrets."""

import asyncio
import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any
from uuid import UUID

import httpx
import pytest

from gatepost.errors import Malformed, RateLimited
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.requests import RequestMetrics, Requests, context_of
from tests.heard import HeardLog

CANARY = "canary-7f3a9"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_numbers = count()

Handler = Callable[[Scope, Receive, Send], Any]


class Service:
    """An application behind the outermost layer, and its log."""

    def __init__(self, handler: Handler) -> None:
        self.log = HeardLog()
        metrics = RequestMetrics(f"test{next(_numbers)}")
        self._app: Any = Requests(handler, self.log, metrics)

    async def ask(
        self, headers: dict[str, Any] | None = None, method: str = "GET"
    ) -> httpx.Response:
        transport = httpx.ASGITransport(self._app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://h") as client:
            return await client.request(method, "/", headers=headers)


async def fine(scope: Scope, _receive: Receive, send: Send) -> None:
    context_of(scope).route = "/route"
    context_of(scope).fields["extra"] = 7
    await respond(send, 200, b"{}")


async def test_a_request_is_one_event_with_all_that_is_to_be_said() -> None:
    service = Service(fine)
    answer = await service.ask()
    (event,) = service.log.heard
    assert event["event"] == "request.served"
    assert (event["method"], event["route"], event["status"]) == ("GET", "/route", 200)
    assert event["extra"] == 7
    assert event["ms"] >= 0
    assert event["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("status", "is_poll", "level"),
    [(200, True, "debug"), (304, False, "debug"), (200, False, "info"), (503, True, "info")],
)
async def test_a_poll_that_goes_well_is_for_who_debugs(
    status: int, is_poll: bool, level: str
) -> None:
    async def polled(scope: Scope, _receive: Receive, send: Send) -> None:
        context_of(scope).is_poll = is_poll
        await respond(send, status, b"{}")

    service = Service(polled)
    await service.ask()
    assert [event["level"] for event in service.log.heard] == [level]


@pytest.mark.parametrize("given", ["a", "A-1_2.3", "x" * 64])
async def test_a_good_request_id_is_kept(given: str) -> None:
    service = Service(fine)
    assert (await service.ask({"x-request-id": given})).headers["x-request-id"] == given
    assert service.log.heard[0]["request_id"] == given


@pytest.mark.parametrize(
    "given", [b"", b" ", b"x" * 65, b"a b", b"a,b", b"\xff", b"a:b", b"<b>", b"${jndi:x}", b"a\tb"]
)
async def test_any_other_is_replaced(given: bytes) -> None:
    service = Service(fine)
    found = (await service.ask({"x-request-id": given})).headers["x-request-id"]
    assert UUID(found)
    assert service.log.heard[0]["request_id"] == found


async def test_a_good_traceparent_is_kept() -> None:
    service = Service(fine)
    await service.ask({"traceparent": TRACE})
    assert service.log.heard[0]["traceparent"] == TRACE


@pytest.mark.parametrize(
    "given",
    [
        "",
        "00",
        TRACE.upper(),
        TRACE + "-00",
        "01" + TRACE[2:],
        "00-" + "0" * 32 + TRACE[35:],
        TRACE[:36] + "0" * 16 + "-01",
        TRACE.replace("0af", "xyz"),
        " " + TRACE + "x",
    ],
)
async def test_any_other_is_begun_anew(given: str) -> None:
    service = Service(fine)
    await service.ask({"traceparent": given})
    found = service.log.heard[0]["traceparent"]
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-00", found)
    assert found != given


async def test_an_error_of_ours_is_its_problem_and_nothing_unexpected() -> None:
    async def refuse(*_: Any) -> None:
        raise RateLimited("slowly", retry_after=3)

    service = Service(refuse)
    answer = await service.ask({"x-request-id": "r-1"})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"] == "r-1"
    assert service.log.events() == ["request.served"]
    assert service.log.heard[0]["problem"] == "urn:gatepost:problem:rate-limited"


async def test_any_other_error_says_nothing_of_itself_to_anybody() -> None:
    async def fail(*_: Any) -> None:
        raise ValueError(CANARY)

    service = Service(fail)
    answer = await service.ask()
    assert answer.status_code == 500
    assert answer.json()["type"] == "urn:gatepost:problem:internal"
    assert CANARY not in answer.text
    assert CANARY not in json.dumps(service.log.heard)
    assert service.log.events() == ["request.failed", "request.served"]
    (failed,) = service.log.of("request.failed")
    assert failed["error"] == "ValueError"
    assert failed["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(("method", "kind"), [("POST", "outcome-unknown"), ("GET", "unavailable")])
async def test_who_asked_a_process_that_ends_is_told_to_come_again(method: str, kind: str) -> None:
    """Its loop cancels what is under way: nobody knows what has come of it."""

    async def ends(*_: Any) -> None:
        raise asyncio.CancelledError

    answer = await Service(ends).ask(method=method)
    assert answer.status_code == 503
    assert answer.json()["type"] == f"urn:gatepost:problem:{kind}"
    assert answer.headers["retry-after"]


async def test_an_error_behind_the_head_of_an_answer_does_not_begin_another() -> None:
    async def fail_late(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})
        raise Malformed

    service = Service(fail_late)
    answer = await service.ask()
    assert (answer.status_code, answer.text) == (200, "x")


async def test_what_has_not_changed_is_not_worth_a_line() -> None:
    async def unchanged(_scope: Scope, _receive: Receive, send: Send) -> None:
        await respond(send, 304, b"")

    service = Service(unchanged)
    await service.ask()
    assert service.log.heard[0]["level"] == "debug"
