"""A batch: each item is answered as a single post would be, in its place, and touches no other."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from gatepost.bundle import KnownClient, KnownDomain
from gatepost.errors import (
    Invalid,
    KeyReused,
    Malformed,
    OutcomeUnknown,
    RateLimited,
    StillUnderWay,
    TooLarge,
    Unavailable,
    UnsupportedMediaType,
)
from gatepost.service.http import CERTIFICATE
from gatepost.service.requests import Context
from proxy.batch import MAX_BATCH_BYTES, MAX_ITEMS, MAX_LINE_BYTES, accept_batch
from proxy.depths import Depths
from proxy.edge import Edge
from proxy.intake import Accepted
from proxy.senders import Senders
from proxy.settings import Validation
from tests.factories import DOMAIN, NUMBER, bundle, identity, ids, known_client

JSON, NDJSON = b"application/json", b"application/x-ndjson"
RAISES = {one.__name__: one for one in (KeyReused, StillUnderWay, Unavailable, OutcomeUnknown)}


@dataclass
class HeldCertificate:
    """A certificate as the handshake left it."""

    fingerprint: str
    caller: Any


class Intake:
    """Accepts each message, or raises what its body says."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str | None]] = []

    async def accept(
        self, submission: Any, _client: KnownClient, key: str | None, _trace: Any
    ) -> tuple[Accepted, bool]:
        if error := RAISES.get(submission.message_body):
            raise error()
        self.taken.append((submission.message_body, key))
        return Accepted(ids.new(), "queued", "2026-01-01T00:00:00.000Z", "full"), False


class Limits:
    """Grants so many."""

    def __init__(self, granted: int) -> None:
        self.granted = granted

    async def take(self, _client: KnownClient) -> int:
        if not self.granted:
            raise RateLimited(retry_after=3)
        self.granted -= 1
        return self.granted


class NobodyRevoked:
    def check(self, _certificate: Any) -> None:
        pass


class Caller:
    """A client that posts batches to one process."""

    def __init__(self, granted: int = 10_000) -> None:
        senders, client = Senders(), known_client()
        senders.learn(bundle(client))
        self.intake, self.depths = Intake(), Depths()
        parts: Any = (self.intake, Limits(granted), NobodyRevoked())
        self._edge = Edge(
            revoked=parts[2],
            senders=senders,
            depths=self.depths,
            limits=parts[1],
            rules=Validation(),
            intake=parts[0],
            statuses=None,  # type: ignore[arg-type]
            renewals=None,  # type: ignore[arg-type]
        )
        self.context = Context("request-1", "trace-1")
        self._certificate = HeldCertificate(client.fingerprint, identity())

    async def post(self, body: bytes, media_type: bytes = JSON) -> list[dict[str, Any]]:
        """The items of the answer; raises what the whole batch was refused with."""
        scope = {
            "headers": [(b"content-type", media_type)],
            "gatepost.context": self.context,
            CERTIFICATE: self._certificate,
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        await accept_batch(self._edge, scope, receive, send)
        assert sent[0]["status"] == 200
        items: list[dict[str, Any]] = json.loads(sent[1]["body"])["items"]
        return items


def message(body: str = "hello", **more: Any) -> dict[str, Any]:
    return {"sender_number": NUMBER, "message_body": body, **more}


def array(*items: Any) -> bytes:
    return json.dumps(items).encode()


def lines(*items: Any) -> bytes:
    return b"\n".join(json.dumps(item).encode() for item in items)


@pytest.mark.parametrize(("media_type", "write"), [(JSON, array), (NDJSON, lines)])
async def test_each_item_has_its_answer_in_its_place(media_type: bytes, write: Any) -> None:
    caller = Caller()
    items = await caller.post(
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
    items = await Caller().post(array(message(), message(body), message()))
    assert [item["status"] for item in items] == [202, status, 202]
    assert items[1]["problem"]["type"] == f"urn:gatepost:problem:{slug}"


async def test_the_rate_is_counted_by_item() -> None:
    items = await Caller(granted=3).post(array(*[message()] * 5))
    assert [item["status"] for item in items] == [202, 202, 202, 429, 429]


async def test_a_backlog_is_noticed_within_the_batch() -> None:
    caller = Caller()
    caller._edge.senders.learn(bundle(known_client(), domains=[KnownDomain(DOMAIN, None, 3)]))
    items = await caller.post(array(*[message()] * 5))
    assert [item["status"] for item in items] == [202, 202, 202, 503, 503]
    assert items[4]["problem"]["type"] == "urn:gatepost:problem:backlogged"


async def test_an_item_brings_its_own_key() -> None:
    caller = Caller()
    await caller.post(array(message("one", idempotency_key="key-1"), message("two")))
    assert caller.intake.taken == [("one", "key-1"), ("two", None)]


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "é", "\n", 7, None, ["k"]])
async def test_a_key_that_is_none_refuses_its_item(key: Any) -> None:
    caller = Caller()
    items = await caller.post(array(message(idempotency_key=key), message()))
    assert [item["status"] for item in items] == [422, 202]
    assert items[0]["problem"]["errors"][0]["pointer"] == "/idempotency_key"


@pytest.mark.parametrize("count", [0, MAX_ITEMS + 1])
@pytest.mark.parametrize(("media_type", "write"), [(JSON, array), (NDJSON, lines)])
async def test_a_batch_holds_one_to_a_thousand(count: int, media_type: bytes, write: Any) -> None:
    caller = Caller()
    with pytest.raises(Invalid):
        await caller.post(write(*[message()] * count), media_type)
    assert caller.intake.taken == []


async def test_a_thousand_are_taken() -> None:
    items = await Caller().post(array(*[message()] * MAX_ITEMS))
    assert [item["status"] for item in items] == [202] * MAX_ITEMS


async def test_a_line_that_can_not_be_read_is_that_lines_fault() -> None:
    good = json.dumps(message()).encode()
    doubled = b'{"message_body": "a", "message_body": "b"}'
    long = json.dumps(message("x" * MAX_LINE_BYTES)).encode()
    body = b"\n".join([good, b"{", b"", b"\xff\xfe", good, doubled, long, good])
    items = await Caller().post(body, NDJSON)
    assert [item["status"] for item in items] == [202, 400, 400, 202, 400, 400, 202]


@pytest.mark.parametrize("body", [b"{", b"\xff", b'[{"a": 1, "a": 2}]', b"", b"[NaN]"])
async def test_an_array_that_can_not_be_read_is_refused_whole(body: bytes) -> None:
    with pytest.raises(Malformed):
        await Caller().post(body)


@pytest.mark.parametrize("body", [b"{}", b'"text"', b"7", b"null"])
async def test_what_is_no_array_is_none(body: bytes) -> None:
    with pytest.raises(Invalid):
        await Caller().post(body)


async def test_a_batch_has_its_size() -> None:
    with pytest.raises(TooLarge):
        await Caller().post(b" " * (MAX_BATCH_BYTES + 1))


async def test_other_media_types_are_refused() -> None:
    with pytest.raises(UnsupportedMediaType):
        await Caller().post(array(message()), b"text/csv")
