"""Clients say of each post what they know of it, and no more; what they post is what they mean."""

import asyncio
import json
import random
import shutil
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatepost.errors import CannotOpen, GatepostError
from gatepost.trust.identity import Role
from gatepost.wire.envelope import decode, encode
from main_server.ca.authority import Usage
from proxy.admission import admit, admit_document
from proxy.settings import Validation
from tests.chaos.checker.evidence import ACCEPTED, DECLINED, REFUSED, UNKNOWN, Post, read_history
from tests.chaos.digests import Digests
from tests.chaos.history import History, Item, Kind
from tests.chaos.workload.answers import note
from tests.chaos.workload.poison import Poisoner
from tests.chaos.workload.posting import Answer, Broken, Connections, Gate, NotSent
from tests.chaos.workload.shown import Shown
from tests.chaos.workload.texts import Texts
from tests.factories import Pki, identity, keyring

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
RULES = Validation()
SENDER = identity()
DIGESTS = Digests("ab" * 32)


@asynccontextmanager
async def gate(folder: Path, serve: Serve) -> AsyncIterator[Connections]:
    """A server that does with a connection what the test wants."""
    pair = Pki(folder).issue(identity(Role.PROXY, "gatepost"), Usage.SERVER)
    ours, theirs = (
        ssl.create_default_context(cafile=pair.ca),
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
    )
    theirs.load_cert_chain(pair.cert, pair.key)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=theirs)
    connections = Connections(Gate("127.0.0.1", server.sockets[0].getsockname()[1]), lambda: ours)
    try:
        yield connections
    finally:
        await connections.aclose()
        server.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
    return head + await reader.readexactly(length)


async def test_an_answer_is_read_whole_and_its_connection_used_again(tmp_path: Path) -> None:
    connected: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append(1)
        for _ in range(2):
            request = await read_request(reader)
            assert request.startswith(b"POST /there HTTP/1.1\r\n")
            assert request.endswith(b"\r\n\r\nbody")
            writer.write(b"HTTP/1.1 202 Accepted\r\nX-One: 1\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()

    async with gate(tmp_path, serve) as connections:
        for _ in range(2):
            answer = await connections.post("/there", {}, b"body")
            assert answer == Answer(202, {"x-one": "1", "content-length": "2"}, b"{}")
    assert len(connected) == 1


async def test_who_hangs_up_before_a_whole_answer_leaves_it_unknown(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 9\r\n\r\n{")
        writer.close()

    async with gate(tmp_path, serve) as connections:
        with pytest.raises(Broken):
            await connections.post("/", {}, b"")


async def test_where_nobody_listens_nothing_was_sent() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        connections = Connections(Gate("127.0.0.1", port), ssl.create_default_context)
        with pytest.raises(NotSent):
            await connections.post("/", {}, b"")


def test_a_renewed_certificate_is_shown_from_the_next_connection_on(tmp_path: Path) -> None:
    pki = Pki(tmp_path)
    pair, renewed = pki.issue(SENDER), Pki(tmp_path / "new").issue(SENDER)
    shown = Shown(str(pair.ca), str(pair.cert), str(pair.key))
    first = shown.context()
    assert shown.context() is first
    shutil.copyfile(renewed.key, pair.key)
    assert shown.context() is first  # half of it is there
    shutil.copyfile(renewed.cert, pair.cert)
    assert shown.context() is not first


def problem(kind: str) -> dict[str, str]:
    return {"type": f"urn:gatepost:problem:{kind}"}


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (202, {"message_id": "1", "durability": "full"}, ACCEPTED),
        (422, problem("invalid"), REFUSED),
        (403, problem("identity-mismatch"), REFUSED),
        (409, problem("still-under-way"), DECLINED),
        (429, problem("rate-limited"), DECLINED),
        (503, problem("unavailable"), DECLINED),
        (503, problem("outcome-unknown"), UNKNOWN),
        (500, problem("internal"), UNKNOWN),
    ],
)
def test_an_answer_is_noted_as_what_it_says(
    tmp_path: Path, status: int, body: dict[str, str], outcome: str
) -> None:
    [post] = noted(tmp_path, "post", 1, Answer(status, {"retry-after": "7"}, encoded(body)))
    assert post.outcome == outcome
    if outcome is DECLINED:
        assert post.retry_after == "7"


def test_a_batch_is_noted_item_by_item(tmp_path: Path) -> None:
    items = [
        {"index": 0, "status": 202, "message_id": "1", "durability": "queue"},
        {"index": 1, "status": 422, "problem": problem("invalid")},
        {"index": 2, "status": 503, "problem": problem("unavailable")},
        {"index": 3, "status": 503, "problem": problem("outcome-unknown")},
    ]
    posts = noted(tmp_path, "batch", 4, Answer(200, {}, encoded({"items": items})))
    assert [post.outcome for post in posts] == [ACCEPTED, REFUSED, DECLINED, UNKNOWN]
    assert posts[0].durability == "queue"


def test_a_batch_that_is_declined_as_a_whole_is_declined_for_each(tmp_path: Path) -> None:
    answer = Answer(429, {"retry-after": "1"}, encoded(problem("rate-limited")))
    posts = noted(tmp_path, "batch", 3, answer)
    assert [(post.outcome, post.retry_after) for post in posts] == [(DECLINED, "1")] * 3


def noted(folder: Path, kind: Kind, count: int, answer: Answer) -> list[Post]:
    file = folder / "one.jsonl"
    with History(file, "one") as history:
        op = history.invoke(kind, [Item(str(n)) for n in range(count)])
        note(history, op, kind, answer, count)
    return read_history(file)[0]


def encoded(body: Any) -> bytes:
    return json.dumps(body).encode()


def test_what_is_meant_to_be_good_is_admitted_alone_and_in_a_batch() -> None:
    texts = Texts("one", random.Random(1), DIGESTS)
    for keyed in (False, True) * 20:
        text = texts.good(keyed=keyed)
        assert admit(text.body, SENDER, RULES).message_body.split(" ")[0] == text.item.marker
        document = text.in_batch()
        assert document.pop("idempotency_key", None) == text.item.key
        admit_document(document, SENDER, RULES)


def test_what_is_meant_to_be_wrong_is_refused() -> None:
    texts = Texts("one", random.Random(1), DIGESTS)
    for _ in range(60):
        for wrong in (texts.wrong(), texts.garbage()):
            assert wrong.item.expect == "refuse"
            with pytest.raises(GatepostError):
                admit(wrong.body, SENDER, RULES)


def test_no_two_texts_have_one_marker() -> None:
    texts = Texts("one", random.Random(1), DIGESTS)
    made = [make() for make in (texts.good, texts.wrong, texts.garbage) for _ in range(50)]
    assert len({text.item.marker for text in made}) == len(made)


async def test_poison_is_an_envelope_that_nobody_can_open(tmp_path: Path) -> None:
    with History(tmp_path / "one.jsonl", "one") as history:
        poisoner = Poisoner("redis://127.0.0.1:1/0", "example.com:messages", "one", history)
        envelope = decode(encode(poisoner._envelope()))
        with pytest.raises(CannotOpen):
            keyring().open_envelope(envelope)
        await poisoner.poison("of one")  # there is no Redis: nothing was kept
    [post] = read_history(tmp_path / "one.jsonl")[0]
    assert (post.outcome, post.expect) == (DECLINED, "fail")
