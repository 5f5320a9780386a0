"""The edge against everything: no 5xx, nobody dies, and a good sender is served afterwards."""

import json
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from select import select
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import client_context
from tests.acceptance.site import (
    MESSAGES,
    Site,
    Wire,
    accepted,
    eventually,
    post,
    submission,
)
from tests.factories import identity

JSON = {"content-type": "application/json"}
BODY = json.dumps(submission()).encode()


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with site.calling() as client:
        yield client


@pytest.fixture
def unharmed(site: Site) -> Iterator[None]:
    """Afterwards: the same processes, no unexpected error, and a message goes through."""
    before = site.pids("proxy")
    failed = len(site.events("proxy", "request.failed"))
    yield
    with site.calling() as client:
        accepted(post(client))
    assert site.pids("proxy") == before
    assert site.events("proxy", "request.failed")[failed:] == []


def wire(site: Site, timeout: float = 20) -> Wire:
    return Wire(site.url("proxy"), client_context(site.files("client_001")), timeout=timeout)


def head(*lines: str, method: str = "POST", path: str = MESSAGES) -> bytes:
    whole = [f"{method} {path} HTTP/1.1", *lines, "", ""]
    return "\r\n".join(whole).encode("utf-8", "surrogateescape")


GOOD = ["Host: h", "Content-Type: application/json", f"Content-Length: {len(BODY)}"]

HOSTILE = {
    "nothing": b"",
    "a newline": b"\r\n",
    "noise": random.Random(7).randbytes(5000),
    "tls in tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "http/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http/0.9": b"GET /\r\n",
    "http/1.0": b"POST /api/v1/messages HTTP/1.0\r\n\r\n",
    "no host": head("Content-Length: 0"),
    "two hosts": head("Host: a", "Host: b", "Content-Length: 0"),
    "host with a space": head("Host: exa mple", "Content-Length: 0"),
    "host of high bytes": head("Host: \udcff\udcfe", "Content-Length: 0"),
    "another method": head("Host: h", method="BREW"),
    "connect": head("Host: h", method="CONNECT", path="a:443"),
    "trace": head("Host: h", method="TRACE"),
    "options": head("Host: h", method="OPTIONS", path="*"),
    "absolute": head("Host: h", path="http://other.example/api/v1/messages"),
    "dots": head("Host: h", path="/api/v1/../../etc/passwd", method="GET"),
    "encoded dots": head("Host: h", path="/api/v1/messages/%2e%2e%2f%2e%2e", method="GET"),
    "encoded nul": head("Host: h", path="/api/v1/messages/%00", method="GET"),
    "encoded garbage": head("Host: h", path="/api/v1/messages/%ff%fe%zz%", method="GET"),
    "surrogate path": head("Host: h", path="/\udcff", method="GET"),
    "long path": head("Host: h", path="/" + "a" * 15_000, method="GET"),
    "long query": head("Host: h", path=MESSAGES + "?" + "a=b&" * 3_000),
    "splitting": head("Host: h", "X: a\rX-Evil: b", "Content-Length: 0"),
    "nul in a header": head("Host: h", "X: a\0b", "Content-Length: 0"),
    "folded": head("Host: h", "X: a", " b", "Content-Length: 0"),
    "high request id": head("Host: h", "X-Request-Id: \udcff", *GOOD[1:]) + BODY,
    "high traceparent": head("Host: h", "Traceparent: \udcff", *GOOD[1:]) + BODY,
    "high content type": head("Host: h", "Content-Type: \udcff", "Content-Length: 0"),
    "high key": head("Idempotency-Key: \udcff", *GOOD) + BODY,
    "two keys": head("Idempotency-Key: a", "Idempotency-Key: b", *GOOD) + BODY,
    "two types": head("Content-Type: text/plain", *GOOD) + BODY,
    "two lengths": head("Content-Length: 3", *GOOD) + BODY,
    "length and chunks": head("Transfer-Encoding: chunked", *GOOD) + b"0\r\n\r\n",
    "negative length": head("Host: h", "Content-Length: -1"),
    "endless length": head("Host: h", "Content-Length: " + "9" * 50),
    "bad chunk": head("Host: h", "Transfer-Encoding: chunked", GOOD[1]) + b"zz\r\n",
    "huge chunk": head("Host: h", "Transfer-Encoding: chunked", GOOD[1]) + b"f" * 20 + b"\r\n",
    "trailers": head("Host: h", "Transfer-Encoding: chunked", GOOD[1])
    + b"0\r\nContent-Length: 5\r\n\r\n",
    "smuggled": head(*GOOD) + BODY + head("Host: h", method="GET", path="/x"),
    "upgrade": head("Connection: upgrade", "Upgrade: websocket", *GOOD) + BODY,
    "expect": head("Expect: 200-maybe", *GOOD) + BODY,
    "encoded body": head("Content-Encoding: gzip", *GOOD) + BODY,
    "many headers": head(*(f"X-{n}: {n}" for n in range(2_000)), *GOOD) + BODY,
    "one large header": head("X: " + "a" * 100_000, *GOOD) + BODY,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_http_is_refused_or_served_and_harms_nobody(
    site: Site, unharmed: None, what: str
) -> None:
    with wire(site, timeout=1) as one:
        try:
            one.send(HOSTILE[what])
            status, headers, _ = one.answer()
        except OSError:
            return  # cut off, or waited for: what follows shows that it harmed nobody
    assert status < 500, what
    assert "x-evil" not in headers


def test_random_bytes_in_a_good_request_harm_nobody(site: Site, unharmed: None) -> None:
    """Each byte of a request is as likely to be another."""
    dice = random.Random(20261118)
    request = head(*GOOD) + BODY
    for _ in range(60):
        spoilt = bytearray(request)
        for _ in range(dice.randint(1, 5)):
            spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
        with wire(site, timeout=0.15) as one:
            try:
                one.send(bytes(spoilt))
                status, _, body = one.answer()
            except OSError:
                continue
        assert status < 500, (bytes(spoilt), body)


DOUBTFUL = (
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET / HTTP/2.0\r\nHost: h\r\n\r\n",
    b"GET /\r\n",
    b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1",
)


@pytest.mark.parametrize("service", ["proxy", "main_server", "portal"])
def test_doubtful_http_is_refused_and_each_refusal_is_in_the_log(site: Site, service: str) -> None:
    for raw in DOUBTFUL:
        with Wire(site.url(service), client_context(site.files("client_001"))) as one:
            one.send(raw)
            status, headers, body = one.answer()
        assert status == 400, raw
        document = json.loads(body)
        [event] = eventually(
            lambda asked=headers["x-request-id"]: site.events(  # type: ignore[misc]
                service, "request.served", request_id=asked
            ),
            "its event",
        )
        assert (event["status"], event["reason"]) == (400, document["detail"])


def test_doubtful_http_is_refused_where_nobody_shows_a_certificate(site: Site) -> None:
    ops = urlsplit(site.status["metrics"]["proxy"][0])
    for place in (urlsplit(site.url("pki")), ops):
        for raw in DOUBTFUL:
            with socket.create_connection((place.hostname, place.port), 10) as plain:
                plain.sendall(raw)
                assert plain.recv(1000).startswith(b"HTTP/1.1 400 "), raw


BODIES = {
    "empty": b"",
    "null": b"null",
    "array": b"[]",
    "nan": b'{"sender_number":NaN}',
    "deep": b"[" * 16_000,
    "deep objects": b'{"a":' * 3_000,
    "quotes": b"{" * 17 + b'"' + b'\\"' * 7_000,
    "surrogate": b'{"sender_number":"\\ud800","message_body":"x"}',
    "surrogate key": b'{"\\ud800":1}',
    "digits": b'{"sender_number":' + b"1" * 5_000 + b"}",
    "infinity": b'{"sender_number":1e999}',
    "not utf-8": b'{"sender_number":"\xff"}',
    "bom": b"\xef\xbb\xbf" + BODY,
    "utf-16": json.dumps(submission()).encode("utf-16"),
    "twice": b'{"message_body":"a","message_body":"b"}',
    "nul": json.dumps(submission(message_body="\0")).encode(),
    "late": json.dumps(
        submission(metadata={"timestamp": "9999-12-31T23:59:59.9999-00:00"})
    ).encode(),
    "early": json.dumps(submission(metadata={"timestamp": "0001-01-01T00:00:00Z"})).encode(),
    "key in a body": json.dumps(submission(idempotency_key="x")).encode(),
    "many fields": json.dumps({f"f{n}": n for n in range(1_000)}).encode(),
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("path", [MESSAGES, f"{MESSAGES}/batch"])
def test_no_body_makes_it_fail(client: httpx.Client, unharmed: None, what: str, path: str) -> None:
    answer = client.post(path, content=BODIES[what], headers=JSON)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        document = answer.json()
        assert document["status"] == answer.status_code
        assert document["request_id"] == answer.headers["x-request-id"]
        assert "Traceback" not in answer.text


def test_what_comes_at_the_end_of_time_is_delivered_and_holds_nobody_up(
    site: Site, client: httpx.Client
) -> None:
    """A time in the last millisecond of 9999 was once rounded into a year that nobody can store."""
    edge = [
        submission(metadata={"timestamp": stamp})
        for stamp in ("9999-12-31T23:59:59.9999Z", "1000-01-01T00:00:00Z", "1969-12-31T23:59:59Z")
    ]
    site.wait_delivered(*(accepted(post(client, json=one)) for one in edge))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("example.com", 202),
        ("EXAMPLE.com:8001", 202),
        ("example.com.", 202),
        ("localhost", 202),
        ("proxy.internal", 202),
        ("[::1]:8001", 202),
        ("gatepost", 403),
        ("elsewhere.example", 403),
        ("ELSEWHERE.example:443", 403),
        ("elsewhere.example.", 403),
    ],
)
def test_a_host_of_another_domain_disagrees(
    site: Site, client: httpx.Client, host: str, status: int
) -> None:
    if status == 403 and host != "gatepost":
        know_elsewhere(site)
    for answer in (
        post(client, headers={"host": host}),
        client.get("/api/v1/whoami", headers={"host": host}),
    ):
        assert answer.status_code in (status, 200 if status == 202 else 403), answer.text
        if status == 403:
            assert answer.json()["type"] == "urn:gatepost:problem:identity-mismatch"


_known: list[str] = []


def know_elsewhere(site: Site) -> None:
    """A domain that is configured, and not the client's."""
    if not _known:
        site.issue(Identity("elsewhere.example", Role.CLIENT, f"c-{uuid4().hex[:8]}"))
        _known.append("elsewhere.example")


@pytest.mark.parametrize("client_id", ["client_001", "example.com:client_001"])
def test_a_client_id_that_agrees_is_accepted(client: httpx.Client, client_id: str) -> None:
    accepted(post(client, json=submission(metadata={"client_id": client_id})))


@pytest.mark.parametrize(
    "client_id", ["client_002", "example.org:client_001", "client_001.example.com"]
)
def test_a_client_id_that_disagrees_is_refused(client: httpx.Client, client_id: str) -> None:
    answer = post(client, json=submission(metadata={"client_id": client_id}))
    assert answer.status_code == 403
    assert client_id not in answer.text


@pytest.mark.parametrize(
    ("media_type", "status"),
    [
        ("application/json", 202),
        ("Application/JSON", 202),
        ("application/json; charset=utf-8", 202),
        ('application/json;charset="UTF-8"', 202),
        ("application/json; charset=latin-1", 415),
        ("application/json; charset=utf-16", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("text/json", 415),
        ("text/plain", 415),
        ("application/jsonx", 415),
        ("application/problem+json", 415),
        ("*/*", 415),
        ("", 415),
    ],
)
def test_content_types(client: httpx.Client, media_type: str, status: int) -> None:
    answer = client.post(MESSAGES, content=BODY, headers={"content-type": media_type})
    assert answer.status_code == status


def test_a_body_without_a_content_type_or_with_an_encoding_is_refused(client: httpx.Client) -> None:
    assert client.post(MESSAGES, content=BODY).status_code == 415
    for encoding in ("gzip", "br", "deflate, identity", "x"):
        headers = JSON | {"content-encoding": encoding}
        assert client.post(MESSAGES, content=BODY, headers=headers).status_code == 415
    headers = JSON | {"content-encoding": "identity"}
    assert client.post(MESSAGES, content=BODY, headers=headers).status_code == 202


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_other_methods_are_told_the_right_one(client: httpx.Client, method: str) -> None:
    answer = client.request(method, MESSAGES)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_body_of_the_largest_size_is_read_and_one_byte_more_is_not(client: httpx.Client) -> None:
    limit = 16 * 1024
    padded = BODY + b" " * (limit - len(BODY))
    assert client.post(MESSAGES, content=padded, headers=JSON).status_code == 202
    answer = client.post(MESSAGES, content=padded + b" ", headers=JSON)
    assert answer.status_code == 413
    assert answer.json()["type"] == "urn:gatepost:problem:too-large"


@pytest.mark.parametrize("size", [100_000, 1_500_000, 10_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_sender_of_too_much_hears_the_answer(
    client: httpx.Client, unharmed: None, size: int, chunked: bool
) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(size // 50_000):
            yield b" " * 50_000

    content = pieces() if chunked else b" " * size
    assert client.post(MESSAGES, content=content, headers=JSON).status_code == 413
    accepted(post(client))  # on the same connection


def test_a_body_that_drips_is_answered_in_the_end(site: Site, unharmed: None) -> None:
    """And meanwhile others are served."""
    with wire(site, timeout=40) as slow, site.calling() as client:
        slow.send(head(*GOOD[:2], "Content-Length: 1000"))
        started = time.monotonic()
        while time.monotonic() - started < 2:
            slow.send(b" ")
            accepted(post(client))
        slow.socket.close()


def test_bodies_that_never_end_are_bounded_and_given_back(site: Site, unharmed: None) -> None:
    """Forty of them were all of a process's memory. Two of them are a sender's share of one."""
    piece = b" " * (12 * 1024 * 1024)
    begun = head(*GOOD[:2], "Transfer-Encoding: chunked", path=f"{MESSAGES}/batch")
    with ExitStack() as stack:
        wires = [stack.enter_context(wire(site)) for _ in range(9)]
        for one in wires:
            one.send(begun + b"%x\r\n" % len(piece) + piece)

        def answered() -> list[Wire]:
            ready, _, _ = select([one.socket for one in wires], [], [], 0)
            return [one for one in wires if one.socket in ready]

        eventually(lambda: len(answered()) >= 5, "what is above it is refused")
        for one in answered():
            status, headers, _ = one.answer()
            assert (status, headers["retry-after"]) == (429, "1")
    with site.calling() as client:
        eventually(lambda: post(client).status_code == 202, "it is given back")


def test_a_flood_is_told_when_to_come_back(site: Site) -> None:
    holder = identity(name=f"slow-{uuid4().hex[:8]}")
    pair = site.issue(holder, rate=2, burst=10)
    with site.calling(pair.files) as sender:
        answers = [post(sender) for _ in range(40)]
        codes = [answer.status_code for answer in answers]
        assert set(codes) == {202, 429}
        assert 10 <= codes.count(202) <= 10 + 2 * 5, "the burst, and what flowed in meanwhile"
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["type"] == "urn:gatepost:problem:rate-limited"
        wait = int(refused.headers["retry-after"])
        assert 1 <= wait <= 5
        eventually(lambda: post(sender).status_code == 202, "its turn", wait + 2)
        assert sender.get("/api/v1/whoami").json()["limits"] == {"rate_per_second": 2, "burst": 10}
    with site.calling() as client:
        accepted(post(client))  # another's flood is not this one's


def test_pipelined_messages_are_each_answered_in_order(site: Site) -> None:
    with wire(site) as one:
        bad = json.dumps(submission(message_body="")).encode()
        lengths = [BODY, bad] * 5
        one.send(
            b"".join(head(*GOOD[:2], f"Content-Length: {len(body)}") + body for body in lengths)
        )
        assert [one.answer()[0] for _ in lengths] == [202, 422] * 5


def test_expect_100_continue_is_answered(site: Site) -> None:
    with wire(site) as one:
        one.send(head("Expect: 100-continue", *GOOD))
        assert one.answer()[0] == 100
        one.send(BODY)
        assert one.answer()[0] == 202


def test_a_request_id_is_in_every_answer(client: httpx.Client, site: Site) -> None:
    answers = [
        post(client),
        post(client, json={}),
        client.get("/"),
        client.get("/api/v1/whoami"),
        client.put(MESSAGES),
        client.get(f"{MESSAGES}/{uuid4()}"),
    ]
    found = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(found)) == len(found)
    with wire(site) as one:
        one.send(b"garbage\r\n\r\n")
        status, headers, _ = one.answer()
    assert status == 400
    assert headers["x-request-id"]


def test_the_proxy_tells_nothing_of_itself(client: httpx.Client) -> None:
    for answer in (
        post(client),
        client.get("/x"),
        client.get("/docs"),
        client.get("/openapi.json"),
    ):
        assert "server" not in answer.headers
        assert "x-powered-by" not in answer.headers
        for word in ("uvicorn", "fastapi", "python", "Traceback", "starlette"):
            assert word.lower() not in answer.text.lower()
