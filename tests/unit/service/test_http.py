"""The HTTP port against peers who don't mean it well: bounded, answered, alive afterwards."""

import asyncio
import json
import socket
import time
from itertools import islice

import pytest

from gatepost.service import asgi, connection, http
from tests.hostile.requests import hostile_requests
from tests.unit.service.conftest import LIMIT, Port

pytestmark = pytest.mark.asyncio(loop_scope="module")

GOOD = b"GET /good HTTP/1.1\r\nHost: h\r\n\r\n"
HEAD = b"POST /a HTTP/1.1\r\nHost: h\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def post(body: bytes, *headers: bytes) -> bytes:
    length = b"Content-Length: %d" % len(body)
    return HEAD + b"".join(line + b"\r\n" for line in (length, *headers)) + b"\r\n" + body


async def test_a_request_is_served(port: Port) -> None:
    answer = await port.ask(post(b"hello"))
    assert (answer.status, answer.body) == (200, b'{"read":5}')
    assert port.seen == [("POST", "/a", b"hello")]
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\x00\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / FTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: h\r\n\r\n",
        b"GET /\r\n",
        b"GET /\n",
        b"GET / HTTP/0.9\r\nHost: h\r\n\r\n",
        b"OPTIONS / RTSP/1.0\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /  HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n",
        b" GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\rA: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\n\r\n",
        b"GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: h\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        HEAD + b"Content-Length: 5, 5\r\n\r\nhello",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"CONNECT other:443 HTTP/1.1\r\nHost: h\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA\x00: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n",
        b"GET / HTTP/1.1\r\n: b\r\n\r\n",
        b"GET / HTTP/1.1\nHost: h\n\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1e3\r\n\r\n",
        HEAD + b"Content-Length: 0x10\r\n\r\n",
        HEAD + b"Content-Length: +5\r\n\r\nhello",
        HEAD + b"Content-Length: %b\r\n\r\n" % (b"9" * 40),
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        CHUNKED + b"zz\r\n",
        CHUNKED + b"-1\r\n",
        CHUNKED + b"ffffffffffffffffff\r\n",
        CHUNKED + b"5\r\nhelloX",
        CHUNKED + b"5\nhello\r\n0\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_told_so_once_and_cut_off(port: Port, data: bytes) -> None:
    before = port.counted(400)
    async with port.connection() as peer:
        peer.send(data)
        answer = await peer.answer()
        assert answer.status == 400
        assert await peer.ended() == b""
    assert answer.headers["content-type"] == "application/problem+json"
    document = json.loads(answer.body)
    assert document["type"] == "urn:gatepost:problem:malformed"
    assert document["request_id"] == answer.headers["x-request-id"]
    [event] = port.log.of("request.served")
    assert (event["request_id"], event["status"]) == (document["request_id"], 400)
    assert (event["problem"], event["reason"]) == (document["type"], document["detail"])
    assert port.counted(400) == before + 1
    assert port.seen == []
    assert (await port.ask(GOOD)).status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"GET /%s HTTP/1.1\r\nHost: h\r\n\r\n" % (b"a" * 17_000),
        b"GET / HTTP/1.1\r\nHost: h\r\nA: %b\r\n\r\n" % (b"a" * 17_000),
        b"GET / HTTP/1.1\r\nHost: h\r\n%b: a\r\n\r\n" % (b"a" * 17_000),
        b"GET / HTTP/1.1\r\nHost: h\r\n%b\r\n" % (b"a: b\r\n" * 3_000),
        b"GET / HTTP/1.1\r\nHost: h\r\n%b\r\n" % (b"a:\r\n" * 5_000),
        CHUNKED + b"5\r\nhello\r\n0\r\n" + b"a: b\r\n" * 3_000 + b"\r\n",
    ],
    ids=["path", "value", "name", "many", "many empty", "trailers"],
)
async def test_headers_that_are_too_large_are_refused(port: Port, data: bytes) -> None:
    assert (await port.ask(data)).status == 400
    assert port.seen == []


@pytest.mark.parametrize(
    "start",
    [
        b"GET /",
        b"GET / HTTP/1.1\r\nHost: h\r\nA: ",
        b"GET / HTTP/1.1\r\nHost: h\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n",
        CHUNKED + b"5;",
        CHUNKED + b"5\r\nhello\r\n0\r\nA: ",
        b"\r\n",
        GOOD + b"GET / HTTP/1.1\r\nA: ",
    ],
    ids=["path", "value", "name", "headers", "extension", "trailer", "blank lines", "second"],
)
async def test_what_never_ends_is_cut_off_before_it_is_much(port: Port, start: bytes) -> None:
    """The parser hands a header over when it has all of it: what it holds must be bounded too."""
    piece = b"b: c\r\n" * 2_000 if start.endswith(b"b\r\n") else b"a" * 16_384
    piece = b"\r\n" * 8_192 if start == b"\r\n" else piece
    async with port.connection() as peer:
        peer.send(start)
        sent = await peer.pour(piece, 64 << 20)
    assert sent < 16 << 20, "what the kernel takes in between is a few megabytes"
    assert (await port.ask(GOOD)).status == 200


async def test_no_bytes_make_it_fail(port: Port) -> None:
    """What must be refused is seen by no application; what may be served harms nobody."""
    for hostile in islice(hostile_requests(20261119), 330):
        port.seen.clear()
        async with port.connection() as peer:
            peer.send(hostile.raw)
            peer.send_eof()
            wrong = hostile.verdict(await peer.ended())
        assert wrong is None, hostile.raw
        assert not (hostile.refused and port.seen), hostile.raw
    assert port.log.of("request.failed") == []
    assert port.log.of("library.log") == []
    assert max(one["status"] for one in port.log.of("request.served")) < 500
    assert (await port.ask(GOOD)).status == 200


async def test_headers_up_to_the_limit_pass(port: Port) -> None:
    data = b"GET / HTTP/1.1\r\nHost: h\r\nA: %b\r\n\r\n" % (b"a" * 16_000)
    assert (await port.ask(data)).status == 200


async def test_every_request_of_a_connection_has_its_own_limit(port: Port) -> None:
    one = b"GET / HTTP/1.1\r\nHost: h\r\nA: %b\r\n\r\n" % (b"a" * 10_000)
    async with port.connection() as peer:
        for _ in range(3):
            peer.send(one)
            assert (await peer.answer()).status == 200


async def test_a_body_that_comes_in_small_pieces_is_not_taken_for_headers(port: Port) -> None:
    async with port.connection() as peer:
        peer.send(CHUNKED)
        for _ in range(12_000):
            peer.send(b"1\r\nx\r\n")
        peer.send(b"0\r\n\r\n")
        assert (await peer.answer()).body == b'{"read":12000}'


async def test_headers_that_drip_are_not_waited_for(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_SECONDS", 0.2)
    started = time.monotonic()
    async with port.connection() as peer:
        peer.send(b"GET / HTTP/1.1\r\n")
        ended = asyncio.create_task(peer.ended())
        while not ended.done():
            peer.send(b"A: b\r\n")
            await asyncio.wait({ended}, timeout=0.02)
    assert 0.15 < time.monotonic() - started < 2
    assert port.seen == []


async def test_a_silent_peer_is_not_kept(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_SECONDS", 0.1)
    async with port.connection() as peer:
        assert await peer.ended() == b""


async def test_a_slow_answer_is_no_slow_request(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_SECONDS", 0.1)
    port.release.clear()
    async with port.connection() as peer:
        peer.send(GOOD)
        await asyncio.sleep(0.3)  # longer than a request's headers may take
        port.release.set()
        assert (await peer.answer()).status == 200


async def test_a_body_that_drips_is_not_waited_for(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi, "READ_SECONDS", 0.2)
    async with port.connection() as peer:
        peer.send(HEAD + b"Content-Length: 100\r\n\r\n")
        for _ in range(20):
            peer.send(b"x")
            await asyncio.sleep(0.02)
        answer = await peer.answer()
    assert answer.status == 400
    assert b"did not arrive" in answer.body


@pytest.mark.parametrize("size", [LIMIT + 1, 100_000, 5_000_000])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_sender_of_too_much_hears_the_answer(port: Port, size: int, chunked: bool) -> None:
    """Even one that first sends everything and then listens."""
    body = b"x" * size
    async with port.connection() as peer:
        if chunked:
            peer.send(CHUNKED)
            for start in range(0, size, 10_000):
                piece = body[start : start + 10_000]
                peer.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            peer.send(b"0\r\n\r\n")
        else:
            peer.send(post(body))
        assert (await peer.answer()).status == 413
        peer.send(GOOD)
        assert (await peer.answer()).status == 200, "the connection is still good"


async def test_pipelined_requests_are_answered_in_order(port: Port) -> None:
    async with port.connection() as peer:
        peer.send(b"".join(post(b"x" * n) for n in range(20)))
        for n in range(20):
            assert (await peer.answer()).body == b'{"read":%d}' % n


async def test_garbage_behind_a_good_request_does_not_take_its_answer_away(port: Port) -> None:
    port.release.clear()
    async with port.connection() as peer:
        peer.send(post(b"hello") + b"\x00\x01 garbage\r\n\r\n")
        await asyncio.wait_for(port.begun.wait(), 5)
        port.release.set()
        answer = await peer.answer()
        assert (answer.status, answer.body) == (200, b'{"read":5}')
        assert (await peer.answer()).status == 400
        assert await peer.ended() == b""


async def test_garbage_behind_an_answered_request_is_told(port: Port) -> None:
    async with port.connection() as peer:
        peer.send(post(b"hello"))
        assert (await peer.answer()).status == 200
        peer.send(b"\x00\x01 garbage\r\n\r\n")
        assert (await peer.answer()).status == 400


async def test_a_chunked_body_is_read_whatever_its_pieces(port: Port) -> None:
    data = CHUNKED + b"5\r\nhello\r\n1;name=value\r\n \r\n5\r\nworld\r\n0\r\n\r\n"
    async with port.connection() as peer:
        for n in range(len(data)):
            peer.send(data[n : n + 1])
        assert (await peer.answer()).status == 200
    assert port.seen == [("POST", "/a", b"hello world")]


async def test_spaces_around_a_value_are_not_of_it(port: Port) -> None:
    """RFC 9112, 5.1; another server would not see them either."""
    answer = await port.ask(HEAD + b"X-Request-Id: \t mine \t\r\nContent-Length: 0 \r\n\r\n")
    assert (answer.status, answer.headers["x-request-id"]) == (200, "mine")


async def test_a_header_behind_a_body_is_nobodys(port: Port) -> None:
    """The application has begun by then; nothing that it believes may still change."""
    async with port.connection() as peer:
        peer.send(CHUNKED)
        await asyncio.wait_for(port.begun.wait(), 5)
        peer.send(b"5\r\nhello\r\n0\r\nX-Forwarded-For: 192.0.2.1\r\nHost: other\r\n\r\n")
        assert (await peer.answer()).status == 200
    assert port.hosts == [[b"h"]]


async def test_a_request_of_http_1_0_needs_no_host(port: Port) -> None:
    answer = await port.ask(b"GET / HTTP/1.0\r\n\r\n")
    assert (answer.status, answer.headers["connection"]) == (200, "close")


async def test_a_start_in_pieces_is_as_strict(port: Port) -> None:
    for line, status in ((b"GET / HTTP/1.1\r\n", 200), (b"GET /  HTTP/1.1\r\n", 400)):
        async with port.connection() as peer:
            for n in range(len(line)):
                peer.send(line[n : n + 1])
                await asyncio.sleep(0)
            peer.send(b"Host: h\r\n\r\n")
            assert (await peer.answer()).status == status


async def test_the_second_of_two_that_come_together_is_as_strict(port: Port) -> None:
    async with port.connection() as peer:
        peer.send(post(b"hello") + b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n" + GOOD)
        assert [(await peer.answer()).status for _ in range(2)] == [200, 400]
        assert await peer.ended() == b"", "what follows is not read"
    assert port.seen == [("POST", "/a", b"hello")]


async def test_who_sends_on_and_on_without_waiting_is_told_so(port: Port) -> None:
    """What came before has its answers; nobody has begun with what comes after."""
    port.release.clear()
    async with port.connection() as peer:
        peer.send(post(b"x") * 200)
        await asyncio.wait_for(port.begun.wait(), 5)
        port.release.set()
        answers = [await peer.answer() for _ in range(http.PIPELINED + 2)]
        assert await peer.ended() == b""
    assert [one.status for one in answers] == [200] * (http.PIPELINED + 1) + [429]
    assert json.loads(answers[-1].body)["type"] == "urn:gatepost:problem:too-much-at-once"
    assert len(port.seen) == http.PIPELINED + 1


async def test_a_body_that_ends_in_nonsense_has_one_answer(port: Port) -> None:
    """Whether it is being read or waits behind another."""
    broken = CHUNKED + b"5\r\nhello\r\nzz\r\n"
    async with port.connection() as peer:
        peer.send(CHUNKED + b"5\r\nhello\r\n")
        await asyncio.wait_for(port.begun.wait(), 5)
        peer.send(b"zz\r\n")
        assert (await peer.answer()).status == 400
        assert await peer.ended() == b""
    async with port.connection() as peer:
        peer.send(post(b"first") + broken)
        assert [(await peer.answer()).status for _ in range(2)] == [200, 400]
        assert await peer.ended() == b""
    assert port.seen == [("POST", "/a", b"first")]


async def test_head_has_no_body(port: Port) -> None:
    async with port.connection() as peer:
        peer.send(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await peer.line()).startswith(b"HTTP/1.1 200")
        while await peer.line() != b"\r\n":
            pass
        assert (await peer.answer()).status == 200, "the next answer follows at once"


async def test_expect_100_continue_is_answered_before_the_body(port: Port) -> None:
    async with port.connection() as peer:
        peer.send(HEAD + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        assert await peer.line() == b"HTTP/1.1 100 Continue\r\n"
        assert await peer.line() == b"\r\n"
        peer.send(b"hello")
        assert (await peer.answer()).body == b'{"read":5}'


async def test_an_upgrade_is_not_offered(port: Port) -> None:
    upgrade = b"Connection: upgrade\r\nUpgrade: websocket\r\n"
    data = b"GET / HTTP/1.1\r\nHost: h\r\n" + upgrade + b"\r\n"
    async with port.connection() as peer:
        peer.send(data + GOOD)
        answer = await peer.answer()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert await peer.ended() == b"", "nobody waits for what could not be read"
    assert (await port.ask(post(b"hello", upgrade.strip()))).headers["connection"] == "close"


async def test_a_peer_who_leaves_in_the_middle_disturbs_nobody(port: Port) -> None:
    for part in (b"GET", HEAD, HEAD + b"Content-Length: 100\r\n\r\nabc", CHUNKED + b"5\r\nhe"):
        async with port.connection() as peer:
            peer.send(part)
    port.release.clear()
    async with port.connection() as peer:
        peer.send(GOOD)
        await asyncio.wait_for(port.begun.wait(), 5)
    port.release.set()
    assert (await port.ask(GOOD)).status == 200


async def test_stopping_finishes_what_has_begun_and_takes_nothing_new(own_port: Port) -> None:
    port = own_port
    port.release.clear()
    async with port.connection() as idle, port.connection() as busy:
        idle.send(GOOD)
        busy.send(GOOD)
        await port.has_seen(2)
        port.stop.set()
        await refused(port)
        port.release.set()
        for peer in (idle, busy):
            answer = await peer.answer()
            assert answer.status == 200
            assert answer.headers["connection"] == "close"
            assert await peer.ended() == b""


async def test_who_comes_just_as_it_stops_is_answered_once_and_not_kept(own_port: Port) -> None:
    """A handshake that was under way when the others were told: it must not go on for ever."""
    port = own_port
    async with port.connection() as early, port.connection() as silent:
        early.send(b"GET / HTTP/1.1\r\n")
        silent.send(b"")
        await asyncio.sleep(0.05)  # both have been accepted
        port.stop.set()
        early.send(b"Host: h\r\n\r\n")
        answer = await early.answer()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert await early.ended() == b""
        assert await silent.ended() == b""


async def test_who_has_called_just_as_it_stops_is_still_let_in(own_port: Port) -> None:
    """And who calls later is refused at once, not when those have been answered."""
    port = own_port
    port.release.clear()
    with socket.create_connection(("127.0.0.1", port.number)) as called:
        called.sendall(GOOD)
        port.stop.set()  # nobody has had a turn since
        await refused(port)
        port.release.set()
        assert (await asyncio.to_thread(called.recv, 1000)).startswith(b"HTTP/1.1 200")


async def refused(port: Port) -> None:
    """Waits until the port takes no connections any more."""
    async with asyncio.timeout(5):
        while True:
            try:
                async with port.connection():
                    await asyncio.sleep(0.01)
            except (ConnectionRefusedError, ConnectionResetError):  # or it closed just then
                return
