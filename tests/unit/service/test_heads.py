"""Heads that two servers could read differently are refused, and no others."""

import pytest

from gatepost.service.heads import objection

HOST = (b"host", b"h")


def check(
    *headers: tuple[bytes, bytes],
    method: bytes = b"GET",
    target: bytes = b"/a",
    version: str = "1.1",
    start: bytes = b"",
) -> str | None:
    start = start or b"%b %b HTTP/%b\r\n" % (method, target, version.encode())
    return objection(start, method, target, version, headers)


@pytest.mark.parametrize(
    "host",
    [b"h", b"EXAMPLE.com:8001", b"example.com.", b"192.0.2.1:1", b"[::1]", b"[::1]:8001", b"a_b"],
)
def test_one_host_is_fine(host: bytes) -> None:
    assert check((b"host", host)) is None


@pytest.mark.parametrize(
    "host",
    [b"", b"a b", b"a,b c", b"a\tb", b"\xff", b"a/b", b"a@b", b"a:b", b"a:", b"a:123456", b"[::1",
     b"::1", b"a\n", b"[x]", b"a:1:2", b"a?b", b"a#b", b"a\\b"],
)  # fmt: skip
def test_what_is_no_host_is_refused(host: bytes) -> None:
    assert check((b"host", host)) == "The header Host is a name or an address, and perhaps a port."


def test_there_is_one_host() -> None:
    for headers in ((), (HOST, HOST), (HOST, (b"host", b"other"))):
        assert check(*headers) == "A request has one header Host."
    assert check(version="1.0") is None, "it knows of none"
    assert check(HOST, HOST, version="1.0")


@pytest.mark.parametrize("version", ["0.9", "2.0", "1.2", "0.0"])
def test_other_versions_are_refused(version: str) -> None:
    assert check(HOST, version=version) == "Speak HTTP/1.1."


@pytest.mark.parametrize(
    "start",
    [
        "GET  /a HTTP/1.1\r\n",
        "GET /a  HTTP/1.1\r\n",
        "GET /a HTTP/1.1 \r\n",
        "GET /a HTTP/1.1\n",
        "GET\t/a HTTP/1.1\r\n",
        "GET /a RTSP/1.1\r\n",
        "GET /a ICE/1.1\r\n",
        "get /a HTTP/1.1\r\n",
    ],
)
def test_odd_spaces_and_protocols_are_refused(start: str) -> None:
    assert "one space" in str(check(HOST, start=start.encode()))


@pytest.mark.parametrize(
    ("method", "target", "fine"),
    [
        (b"GET", b"//a", True),
        (b"GET", b"/a?b=/#"[:-1], True),
        (b"GET", b"http://h/a", True),
        (b"GET", b"HTTP://h", True),
        (b"OPTIONS", b"*", True),
        (b"GET", b"*", False),
        (b"GET", b"/a#b", False),
        (b"GET", b"http://other/a", False),
        (b"GET", b"http://h:80/a", False),
        (b"GET", b"http://user@h/a", False),
        (b"GET", b"http://h/a#b", False),
        (b"GET", b"ftp://h/a", False),
        (b"GET", b"h/a", False),
        (b"CONNECT", b"h:443", False),
        (b"GET", b"", False),
    ],
)
def test_the_target_is_a_path(method: bytes, target: bytes, fine: bool) -> None:
    assert (check(HOST, method=method, target=target) is None) is fine


@pytest.mark.parametrize(
    ("headers", "fine"),
    [
        ({b"content-length": [b"5"]}, True),
        ({b"transfer-encoding": [b"Chunked"]}, True),
        ({b"content-length": [b"5", b"5"]}, False),
        ({b"content-length": [b"5, 5"]}, False),
        ({b"content-length": [b"+5"]}, False),
        ({b"content-length": [b"\xb2"]}, False),
        ({b"content-length": [b""]}, False),
        ({b"content-length": [b"5"], b"transfer-encoding": [b"chunked"]}, False),
        ({b"transfer-encoding": [b"chunked", b"chunked"]}, False),
        ({b"transfer-encoding": [b"gzip, chunked"]}, False),
        ({b"transfer-encoding": [b"chunked, identity"]}, False),
        ({b"transfer-encoding": [b"identity"]}, False),
        ({b"transfer-encoding": [b""]}, False),
    ],
)
def test_where_a_body_ends_is_said_once(headers: dict[bytes, list[bytes]], fine: bool) -> None:
    given = [(name, value) for name, values in headers.items() for value in values]
    assert (check(HOST, *given, method=b"POST") is None) is fine


def test_chunks_are_of_http_1_1() -> None:
    assert check(HOST, (b"transfer-encoding", b"chunked"), version="1.0")
