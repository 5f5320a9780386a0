"""A batch: each item is answered as a single post would be, in its place, and touches no other."""

import json
import time
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from gatepost.errors import Invalid, Malformed, TooLarge, UnsupportedMediaType
from gatepost.wire.bundle import KnownDomain
from proxy.batch import MAX_BATCH_BYTES, MAX_ITEMS, MAX_LINE_BYTES
from proxy.depths import RETRY_AFTER_SECONDS
from proxy.endpoints import BATCH
from tests.factories import DOMAIN, bundle, known_client
from tests.heard import HeardLog
from tests.unit.proxy.caller import JSON, NDJSON, RETRY_AFTER, Caller, message


def array(*items: Any) -> bytes:
    return json.dumps(items).encode()


def lines(*items: Any) -> bytes:
    return b"\n".join(json.dumps(item).encode() for item in items)


@pytest.mark.parametrize(("media_type", "write"), [(JSON, array), (NDJSON, lines)])
async def test_each_item_has_its_answer_in_its_place(media_type: bytes, write: Any) -> None:
    caller = Caller()
    items = await caller.post_batch(
        write(message("one"), message(""), message("KeyReused"), message("two"), 7), media_type
    )
    assert [item["index"] for item in items] == [0, 1, 2, 3, 4]
    assert [item["status"] for item in items] == [202, 422, 422, 202, 422]
    assert [body for body, _ in caller.intake.taken] == ["one", "two"]
    for item in (items[0], items[3]):
        assert set(item) == {"index", "status", "message_id", "queued_at", "durability"}
        UUID(item["message_id"])
    assert items[1]["problem"]["errors"][0]["pointer"] == "/message_body"
    assert items[2]["problem"]["type"] == "urn:gatepost:problem:idempotency-key-reused"
    assert caller.context.fields["messages"] == 5
    assert caller.context.fields["accepted"] == 2


@pytest.mark.parametrize(
    ("body", "status", "slug"),
    [
        ("StillUnderWay", 409, "still-under-way"),
        ("Unavailable", 503, "unavailable"),
        ("OutcomeUnknown", 503, "outcome-unknown"),
    ],
)
async def test_what_a_commit_says_of_one_item_is_that_items(
    body: str, status: int, slug: str
) -> None:
    items = await Caller().post_batch(array(message(), message(body), message()))
    assert [item["status"] for item in items] == [202, status, 202]
    assert items[1]["problem"]["type"] == f"urn:gatepost:problem:{slug}"
    assert items[1]["problem"]["retry_after"] == 1


async def test_behind_one_that_is_to_be_sent_later_goes_none_of_an_ordering_key() -> None:
    """It would overtake what is sent again; what was refused for good holds up nobody."""
    line = {"ordering_key": "line"}
    sent = [message("one") | line, message("KeyReused") | line, message("two") | line]
    sent += [message("Unavailable") | line, message("three") | line, message("free")]
    caller = Caller()
    items = await caller.post_batch(array(*sent))
    assert [item["status"] for item in items] == [202, 422, 202, 503, 503, 202]
    assert [body for body, _ in caller.intake.taken] == ["one", "two", "free"]


async def test_what_nobody_thought_of_is_unknown_of_one_item_and_logged() -> None:
    """It may have been committed; what came of the others is known (I1)."""
    caller, log = Caller(), HeardLog()
    answer = await caller.ask(BATCH, array(message(), message("KeyError"), message()), log=log)
    items = answer.json()["items"]
    assert (answer.status_code, [item["status"] for item in items]) == (200, [202, 503, 202])
    assert items[1]["problem"]["type"] == "urn:gatepost:problem:outcome-unknown"
    assert [one["error"] for one in log.of("request.failed")] == ["KeyError"]


async def test_of_a_domain_that_is_disabled_half_way_the_rest_is_refused() -> None:
    caller = Caller()

    def disable() -> None:
        caller.edge.senders.learn(bundle(domains=[]))
        caller.edge.senders.confirm(time.monotonic())

    caller.intake.before["two"] = disable
    items = await caller.post_batch(array(message("one"), message("two"), message("three")))
    assert [item["status"] for item in items] == [202, 202, 403]
    assert items[2]["problem"]["type"] == "urn:gatepost:problem:unknown-certificate"


async def test_the_rate_is_counted_by_item() -> None:
    items = await Caller(granted=3).post_batch(array(*[message()] * 5))
    assert [item["status"] for item in items] == [202, 202, 202, 429, 429]
    assert items[4]["problem"]["retry_after"] == RETRY_AFTER


@pytest.mark.parametrize(
    ("granted", "expected"),
    [(7, b'"client";r=2;t=1'), (5, b'"client";r=0;t=1'), (3, b'"client";r=0;t=3')],
)
async def test_its_answer_says_where_the_client_stands_after_the_last_item(
    granted: int, expected: bytes
) -> None:
    answer = await Caller(granted).ask(BATCH, array(*[message()] * 5))
    assert answer.status_code == 200
    assert answer.headers["ratelimit"].encode() == expected
    assert answer.headers["ratelimit-policy"] == '"client";q=1000;w=10'


async def test_without_a_token_for_the_first_it_is_refused_whole() -> None:
    answer = await Caller(granted=0).ask(BATCH, array(message()))
    assert (answer.status_code, answer.headers["ratelimit"]) == (429, '"client";r=0;t=3')


PADDED = json.dumps(message()).encode().ljust(MAX_LINE_BYTES)


@pytest.mark.parametrize(("granted", "status", "taken"), [(8, 429, 0), (9, 200, 1)])
async def test_a_long_body_is_paid_for_before_it_is_worked_on(
    granted: int, status: int, taken: int
) -> None:
    """As if it were as many messages as would fit into it."""
    body = b"\n".join([lines(message()), *[b" " * MAX_LINE_BYTES] * 9])
    caller = Caller(granted)
    answer = await caller.ask(BATCH, body, media_type=NDJSON)
    assert (answer.status_code, len(caller.intake.taken)) == (status, taken)


async def test_a_client_that_can_save_up_less_pays_what_it_can_have() -> None:
    caller = Caller(granted=3)
    caller.edge.senders.learn(bundle(known_client(burst=3)))
    answer = await caller.ask(BATCH, b"\n".join([PADDED] * 5), media_type=NDJSON)
    assert [item["status"] for item in answer.json()["items"]] == [202, 202, 202, 429, 429]


async def test_items_that_were_paid_for_by_length_are_not_paid_for_again() -> None:
    caller = Caller(granted=20)
    items = await caller.post_batch(b"\n".join([PADDED] * 20), NDJSON)
    assert [item["status"] for item in items] == [202] * 20
    assert caller.edge.limits.left(known_client()) == 0


async def test_a_backlog_is_noticed_within_the_batch() -> None:
    caller = Caller()
    caller.edge.senders.learn(bundle(known_client(), domains=[KnownDomain(DOMAIN, None, 3)]))
    items = await caller.post_batch(array(*[message()] * 5))
    assert [item["status"] for item in items] == [202, 202, 202, 503, 503]
    assert items[4]["problem"]["type"] == "urn:gatepost:problem:backlogged"
    assert items[4]["problem"]["retry_after"] == RETRY_AFTER_SECONDS


async def test_an_item_brings_its_own_key() -> None:
    caller = Caller()
    await caller.post_batch(array(message("one", idempotency_key="key-1"), message("two")))
    assert caller.intake.taken == [("one", "key-1"), ("two", None)]


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "é", "\n", 7, None, ["k"]])
async def test_a_key_that_is_none_refuses_its_item(key: Any) -> None:
    caller = Caller()
    items = await caller.post_batch(array(message(idempotency_key=key), message()))
    assert [item["status"] for item in items] == [422, 202]
    assert items[0]["problem"]["errors"][0]["pointer"] == "/idempotency_key"


@pytest.mark.parametrize("count", [0, MAX_ITEMS + 1])
@pytest.mark.parametrize(("media_type", "write"), [(JSON, array), (NDJSON, lines)])
async def test_a_batch_holds_one_to_a_thousand(count: int, media_type: bytes, write: Any) -> None:
    caller = Caller()
    with pytest.raises(Invalid):
        await caller.post_batch(write(*[message()] * count), media_type)
    assert caller.intake.taken == []


async def test_a_thousand_are_taken() -> None:
    items = await Caller().post_batch(array(*[message()] * MAX_ITEMS))
    assert [item["status"] for item in items] == [202] * MAX_ITEMS


async def test_a_fault_in_counting_breaks_off_nothing_that_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caller, log = Caller(), HeardLog()
    take, taken = caller.edge.limits.take, count()

    async def fail_at_the_third(*given: Any) -> int:
        if next(taken) == 2:
            raise KeyError
        return await take(*given)

    monkeypatch.setattr(caller.edge.limits, "take", fail_at_the_third)
    answer = await caller.ask(BATCH, array(*[message()] * 4), log=log)
    statuses = [item["status"] for item in answer.json()["items"]]
    assert statuses == [202, 202, 503, 503]
    assert len(caller.intake.taken) == 2
    assert [one["error"] for one in log.of("request.failed")] == ["KeyError"]


async def test_a_line_that_can_not_be_read_is_that_lines_fault() -> None:
    good = json.dumps(message()).encode()
    doubled = b'{"message_body": "a", "message_body": "b"}'
    long = json.dumps(message("x" * MAX_LINE_BYTES)).encode()
    body = b"\n".join([good, b"{", b"", b"\xff\xfe", good, doubled, long, good])
    items = await Caller().post_batch(body, NDJSON)
    assert [item["status"] for item in items] == [202, 400, 400, 202, 400, 400, 202]


@pytest.mark.parametrize("body", [b"{", b"\xff", b'[{"a": 1, "a": 2}]', b"", b"[NaN]"])
async def test_an_array_that_can_not_be_read_is_refused_whole(body: bytes) -> None:
    with pytest.raises(Malformed):
        await Caller().post_batch(body)


@pytest.mark.parametrize("body", [b"{}", b'"text"', b"7", b"null"])
async def test_what_is_no_array_is_none(body: bytes) -> None:
    with pytest.raises(Invalid):
        await Caller().post_batch(body)


async def test_a_batch_has_its_size() -> None:
    with pytest.raises(TooLarge):
        await Caller().post_batch(b" " * (MAX_BATCH_BYTES + 1))


async def test_other_media_types_are_refused() -> None:
    with pytest.raises(UnsupportedMediaType):
        await Caller().post_batch(array(message()), b"text/csv")
