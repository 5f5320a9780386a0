"""Raw bytes that somebody may send to an HTTP port, endless and the same for the same seed.

Of some it is known that they must be refused: by a 4xx or by hanging up. The others are spoilt at
random and may be served as well. No answer to any of them is a 5xx, no process ends by one, and who
comes afterwards is served.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

_STATUS = re.compile(rb"(?:\A|\n|\})HTTP/1\.1 ([0-9]{3}) ")


@dataclass(frozen=True, slots=True)
class Target:
    """What a good request asks for."""

    method: bytes = b"POST"
    path: bytes = b"/api/v1/messages"
    host: bytes = b"localhost"
    body: bytes = b"{}"
    media_type: bytes = b"application/json"


@dataclass(frozen=True, slots=True)
class Hostile:
    """What is sent on a connection of its own."""

    family: str
    raw: bytes
    refused: bool
    """Whether nothing of it may be served."""

    def verdict(self, answered: bytes) -> str | None:
        """What is wrong with the answers, which may be none; None if nothing is."""
        statuses = [int(one) for one in _STATUS.findall(answered)]
        if any(status >= 500 for status in statuses):
            return f"{self.family}: answered {statuses}"
        if self.refused and any(status < 400 for status in statuses if status != 100):
            return f"{self.family}: served {statuses}"
        return None


def hostile_requests(seed: int, target: Target | None = None) -> Iterator[Hostile]:
    """One of each family after the other, again and again."""
    dice, to = Random(seed), target or Target()
    while True:
        for family, (refused, make) in FAMILIES.items():
            yield Hostile(family, make(dice, to), refused)


def request(
    to: Target, *more: bytes, start: bytes = b"", host: bool = True, length: bool = True
) -> bytes:
    """A request in which one thing may be otherwise; `more` are lines of its head."""
    lines = [start or b"%b %b HTTP/1.1" % (to.method, to.path)]
    lines += [b"Host: " + to.host] if host else []
    lines += [b"Content-Type: " + to.media_type]
    lines += [b"Content-Length: %d" % len(to.body)] if length else []
    return b"\r\n".join([*lines, *more, b"", to.body])


def _start(dice: Random, to: Target) -> bytes:
    space = dice.choice([b"  ", b"\t", b" \t", b"\x0b", b"\xa0", b"\x0c "])
    version = dice.choice([
        b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTP/3", b"http/1.1", b"ICE/1.0", b"RTSP/1.0",
        b"HTTP/1.1 ", b"HTTP/11", b"HTTP/1.1\x00", b"HTTPS/1.1",
    ])  # fmt: skip
    start = dice.choice([
        to.method + space + to.path + b" HTTP/1.1",
        to.method + b" " + to.path + space + b"HTTP/1.1",
        to.method + b" " + to.path + b" " + version,
        b" " + to.method + b" " + to.path + b" HTTP/1.1",
        to.method.lower() + b" " + to.path + b" HTTP/1.1",
        to.method + b" " + to.path,
        to.method + b" " + to.path + b"#part HTTP/1.1",
        to.method + b" http://other.example" + to.path + b" HTTP/1.1",
        to.method + b" " + to.path.lstrip(b"/") + b" HTTP/1.1",
        to.method + b" * HTTP/1.1",
        b"CONNECT " + to.host + b":443 HTTP/1.1",
        to.method + b" " + to.path + b" HTTP/1.1\n" + b"X: y",
    ])  # fmt: skip
    return request(to, start=start)


def _host(dice: Random, to: Target) -> bytes:
    wrong = [b"a b", b"", b"a/b", b"a@b", b"\xff", b"[::1", b"a:b", b"a,b c", b"a\tb", b"a:1:2"]
    lines = dice.choice([[], [to.host, to.host], [to.host, b"other"], [dice.choice(wrong)]])
    return request(to, *(b"Host: " + one for one in lines), host=False)


def _header(dice: Random, to: Target) -> bytes:
    name = dice.choice([b"X", b"Content-Type", b"Transfer-Encoding", b"Host", b"Idempotency-Key"])
    line = dice.choice([
        name + b" : a", name + b"\t: a", b" " + name + b": a", name + b": a\r\n b",
        name + b": a\x00", name + b": a\rX-Evil: b", name + b": a\nX-Evil: b", b": a",
        name, name + b"\xff: a",
        name + b"(: a", name + b": a\x7f", name + b": \x01", b"\x00" + name + b": a",
    ])  # fmt: skip
    return request(to, line)


def _framing(dice: Random, to: Target) -> bytes:
    """Where a body ends, said so that two servers could read it differently."""
    size = b"%d" % len(to.body)
    coding = dice.choice([
        b"gzip, chunked", b"identity", b"chunked, identity", b"xchunked", b"", b'"chunked"',
        b"chunked;q=1", b"\x0bchunked", b"chunked, chunked",
    ])  # fmt: skip
    wrong = dice.choice([
        b"-1", b"+" + size, b"0x2", b"1e1", b"9" * 40, size + b", " + size, size + b" " + size,
        b"", b"\xb2", b"1_0",
    ])  # fmt: skip
    lines = dice.choice([
        [b"Content-Length: " + size, b"Content-Length: " + size],
        [b"Content-Length: " + size, b"Content-Length: 0"],
        [b"Content-Length: " + wrong],
        [b"Content-Length: " + size, b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked", b"Content-Length: " + size],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: " + coding],
    ])  # fmt: skip
    return request(to, *lines, length=False)


def _chunks(dice: Random, to: Target) -> bytes:
    whole = b"%x\r\n%b\r\n0\r\n\r\n" % (len(to.body), to.body)
    broken = dice.choice([
        b"zz\r\n", b"-1\r\n", b"f" * 17 + b"\r\n", b"0x2\r\n{}\r\n", b"2 \r\n{}\r\n", b"2\n{}\r\n",
        b"2\r\n{}X" + whole, b"\r\n" + whole, b"2;a=\n\r\n{}\r\n", b"2\r\n{}\n0\n\n",
    ])  # fmt: skip
    head = request(to, b"Transfer-Encoding: chunked", length=False)
    return head[: len(head) - len(to.body)] + broken


def _large(dice: Random, to: Target) -> bytes:
    size = dice.randint(16_400, 60_000)
    return dice.choice([
        request(to, b"X: " + b"a" * size),
        request(to, b"X" * size + b": a"),
        request(to, *(b"X-%d: a" % n for n in range(size // 8))),
        request(to, start=b"%b /%b HTTP/1.1" % (to.method, b"a" * size)),
        b"\r\n" * size,
    ])  # fmt: skip


def _noise(dice: Random, to: Target) -> bytes:
    return dice.choice([
        dice.randbytes(dice.randint(1, 2_000)) + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + dice.randbytes(500),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + dice.randbytes(20),
        b"SSH-2.0-x\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ])  # fmt: skip


def _spoilt(dice: Random, to: Target) -> bytes:
    """Each byte of a good request is as likely to be another, to be missing, or there twice."""
    raw = bytearray(request(to))
    for _ in range(dice.randint(1, 5)):
        place = dice.randrange(len(raw))
        match dice.randrange(3):
            case 0:
                raw[place] = dice.randrange(256)
            case 1:
                del raw[place]
            case _:
                raw.insert(place, raw[place])
    return bytes(raw)


def _cut(dice: Random, to: Target) -> bytes:
    raw = request(to)
    return raw[: dice.randrange(1, len(raw))]


def _many(dice: Random, to: Target) -> bytes:
    """One behind the other, the last of them spoilt."""
    return request(to) * dice.randint(2, 100) + _spoilt(dice, to)


def _odd(dice: Random, to: Target) -> bytes:
    """Allowed, and seldom seen."""
    long = b"a" * dice.randint(1, 15_000)
    return dice.choice([
        request(to, b"Expect: 100-continue"),
        request(to, b"Expect: " + long[:100]),
        request(to, b"Connection: upgrade", b"Upgrade: websocket"),
        request(to, b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c"),
        request(to, b"Content-Encoding: gzip"),
        request(to, b"X-Request-Id: \xff", b"Traceparent: \xff"),
        request(to, b"Cookie: " + long),
        request(to, start=to.method + b" " + to.path + b"?" + long + b" HTTP/1.1"),
        request(to, start=b"GET /%2e%2e%2f%00%ff%zz HTTP/1.1"),
        request(to, start=b"OPTIONS * HTTP/1.1"),
        request(to, start=b"BREW " + to.path + b" HTTP/1.1"),
        b"\r\n\r\n" + request(to),
        request(to, start=to.method + b" " + to.path + b" HTTP/1.0"),
    ])  # fmt: skip


FAMILIES: dict[str, tuple[bool, Callable[[Random, Target], bytes]]] = {
    "start line": (True, _start),
    "host": (True, _host),
    "header": (True, _header),
    "framing": (True, _framing),
    "chunks": (True, _chunks),
    "too large": (True, _large),
    "noise": (True, _noise),
    "spoilt": (False, _spoilt),
    "cut": (False, _cut),
    "pipelined": (False, _many),
    "odd": (False, _odd),
}
