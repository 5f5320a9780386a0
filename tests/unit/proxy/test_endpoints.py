"""A single post: what is answered beside the message, and what is remembered of it."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from gatepost.wire.bundle import KnownDomain
from proxy.endpoints import MESSAGES, create_reading_api
from tests.factories import DOMAIN, bundle, known_client
from tests.unit.proxy.caller import RETRY_AFTER, Caller, message


async def post(caller: Caller, body: str = "hello", **more: Any) -> httpx.Response:
    return await caller.ask(MESSAGES, json.dumps(message(body, **more)).encode())


async def test_what_is_accepted_counts_as_waiting_until_the_next_look() -> None:
    """A Redis that is silent can't say how much waits; the limit holds all the same (I11)."""
    caller = Caller()
    caller.edge.senders.learn(bundle(known_client(), domains=[KnownDomain(DOMAIN, None, 3)]))
    answers = [await post(caller) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 503, 503]
    assert answers[4].json()["type"] == "urn:gatepost:problem:backlogged"
    assert len(caller.intake.taken) == 3


def _reads(caller: Caller) -> list[str]:
    routes: Any = create_reading_api(caller.edge).routes
    return [one.path.format(message_id=UUID(int=7)) for one in routes if "GET" in one.methods]


async def test_whatever_can_be_asked_is_counted() -> None:
    caller = Caller(granted=0)
    paths = _reads(caller)
    assert len(paths) >= 2
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(caller.app()), base_url="https://127.0.0.1"
    ) as client:
        for path in paths:
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["retry-after"]) == (429, str(RETRY_AFTER))
            assert answer.headers["ratelimit"] == f'"asking";r=0;t={RETRY_AFTER}'


async def test_of_a_paused_domain_nothing_is_taken_in() -> None:
    caller = Caller()
    paused = KnownDomain(DOMAIN, None, 3, intake_paused=True)
    caller.edge.senders.learn(bundle(known_client(), domains=[paused]))
    answer = await post(caller)
    assert answer.json()["type"] == "urn:gatepost:problem:intake-paused"
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert caller.intake.taken == []
    assert caller.edge.senders.note == "paused by hand for all domains"


async def test_a_proxy_that_has_drained_takes_nothing_more() -> None:
    caller = Caller()
    caller.edge = replace(caller.edge, drained=lambda: True)
    answer = await post(caller)
    assert answer.json()["type"] == "urn:gatepost:problem:draining"
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert caller.intake.taken == []


async def test_what_is_not_accepted_does_not() -> None:
    caller = Caller()
    caller.edge.senders.learn(bundle(known_client(), domains=[KnownDomain(DOMAIN, None, 1)]))
    for body in ("", "Unavailable", "OutcomeUnknown"):
        await post(caller, body)
    assert (await post(caller)).status_code == 202


@pytest.mark.parametrize(
    ("body", "status"), [("hello", 202), ("", 422), ("KeyReused", 422), ("Unavailable", 503)]
)
async def test_every_answer_to_a_known_client_says_where_it_stands(body: str, status: int) -> None:
    answer = await post(Caller(granted=5), body)
    assert answer.status_code == status
    assert answer.headers.get_list("ratelimit") == ['"client";r=4;t=1']
    assert answer.headers.get_list("ratelimit-policy") == ['"client";q=1000;w=10']


async def test_so_does_a_refusal_for_the_rate_and_both_say_when_to_come_back() -> None:
    answer = await post(Caller(granted=0))
    assert answer.status_code == 429
    assert answer.headers["ratelimit"] == f'"client";r=0;t={RETRY_AFTER}'
    assert answer.headers["ratelimit-policy"] == '"client";q=1000;w=10'
    assert answer.headers["retry-after"] == str(RETRY_AFTER)
    assert answer.json()["retry_after"] == RETRY_AFTER
