"""The calls to the main server: envelopes only where they are asked for, and whatever isn't a clear
answer is an outage."""

import asyncio
from collections.abc import Callable
from uuid import UUID

import httpx
import pytest

from gatepost.wire.contract import DeliverAnswer, DeliverResult, Result, encode_json
from tests.factories import ids
from tests.unit.worker.pool import FakeMain, delivery
from worker.main_server import MainServer, Outage

Fault = Callable[[str], httpx.Response | None]


async def test_ids_come_first_and_envelopes_for_those_that_are_asked_for() -> None:
    main, known, unknown, ended = FakeMain(), delivery(), delivery(3), delivery()
    main.answer(unknown, Result.SEND_ENVELOPE, Result.DELIVERED)
    main.answer(ended, Result.ALREADY)
    results = await main.client.deliver("queue", [known, unknown, ended])
    assert [one.result for one in results] == ["delivered", "delivered", "already"]
    first, second = main.offers
    assert [bytes(one.envelope) for one in first] == [b"", b"", b""]
    assert [(one.message_id, one.attempt) for one in second] == [(UUID(bytes=unknown.id), 3)]
    assert bytes(second[0].envelope) == unknown.payload


@pytest.mark.parametrize("garbage", [b"", b"\0\1", b"{", b'{"a":1},{"b":2}', b"nul"])
async def test_what_is_no_json_is_unreadable_and_spoils_no_call(garbage: bytes) -> None:
    main, good, bad = FakeMain(), delivery(), delivery(payload=garbage)
    main.answer(good, Result.SEND_ENVELOPE, Result.DELIVERED)
    main.answer(bad, Result.SEND_ENVELOPE)
    results = await main.client.deliver("queue", [bad, good])
    assert [(one.result, one.reason) for one in results] == [
        ("refused", "unreadable"),
        ("delivered", None),
    ]
    assert [one.message_id for one in main.offers[1]] == [UUID(bytes=good.id)]


async def test_a_main_server_that_asks_for_what_it_was_sent_is_not_understood() -> None:
    main, one = FakeMain(), delivery()
    main.answer(one, Result.SEND_ENVELOPE)
    with pytest.raises(Outage):
        await main.client.deliver("queue", [one])


def raises(error: type[Exception]) -> Fault:
    def fault(_path: str) -> httpx.Response:
        raise error("…")

    return fault


FAULTS: list[Fault] = [
    raises(httpx.ConnectError),
    raises(httpx.ReadTimeout),
    raises(httpx.RemoteProtocolError),
    lambda _path: httpx.Response(200, content=b"{"),
    lambda _path: httpx.Response(200, content=b"<html>"),
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_is_no_clear_answer_is_an_outage(fault: Fault) -> None:
    main = FakeMain()
    main.fault = fault
    with pytest.raises(Outage):
        await main.client.deliver("queue", [delivery()])
    with pytest.raises(Outage):
        await main.client.queues()


@pytest.mark.parametrize("status", [201, 302, 400, 403, 404, 413, 422, 429, 500, 502, 503])
async def test_another_status_is_an_outage_whatever_the_body_says(status: int) -> None:
    main, one = FakeMain(), delivery()
    good = [DeliverResult(message_id=UUID(bytes=one.id), result=Result.DELIVERED)]
    content = encode_json(DeliverAnswer(good))
    main.fault = lambda _path: httpx.Response(status, content=content)
    with pytest.raises(Outage):
        await main.client.deliver("queue", [one])


@pytest.mark.parametrize("how", ["fewer", "more", "others", "another order"])
async def test_an_answer_about_other_messages_is_an_outage(how: str) -> None:
    one, two = delivery(), delivery()
    wanted = [UUID(bytes=one.id), UUID(bytes=two.id)]
    told = {
        "fewer": wanted[:1],
        "more": [*wanted, ids.new()],
        "others": [wanted[0], ids.new()],
        "another order": wanted[::-1],
    }[how]
    main = FakeMain()
    results = [DeliverResult(message_id=id_, result=Result.DELIVERED) for id_ in told]
    main.fault = lambda _path: httpx.Response(200, content=encode_json(DeliverAnswer(results)))
    with pytest.raises(Outage):
        await main.client.deliver("queue", [one, two])


async def test_silence_is_an_outage_before_the_lease_ends() -> None:
    async def silent(_request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    client = httpx.AsyncClient(transport=httpx.MockTransport(silent), base_url="https://main")
    with pytest.raises(Outage):
        await MainServer(client, 0.05).deliver("queue", [delivery()])


async def test_the_queues_are_those_that_it_names() -> None:
    main = FakeMain()
    main.names = [None, "a.example:messages"]
    main.paused = ["message_queue"]
    told = await main.client.queues()
    assert (told.queues, told.paused) == (main.names, main.paused)
