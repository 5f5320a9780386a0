"""Calls of each route that an application declares, with what no caller of ours would send.

There is no oracle for them but one: the answer is never a fault of ours. They name nothing that
exists, so that none can do anything.
"""

import json
import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi.routing import APIRoute

ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 10**400, 1e308, "", " ", "\0", "\n", "\ud7ff\U0010ffff",
    "a" * 20_000, "../../etc/passwd",
    "' OR 1=1 --", "<script>alert(1)</script>", "%s%n{}", "2025-13-45T99:99:99Z", "0000-00-00",
    "9999-12-31T23:59:59.999Z",
    "+١٢٣٤٥", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "example.com:client_001\n", "\u202egnp.exe",
    [], {}, [[]], [None], {"": None}, {"a": {"a": {"a": {}}}}, ["x"] * 2000,
)  # fmt: skip
ODD_BODIES = (
    b"", b"\0", b"{", b"[]", b"null", b"NaN", b'"text"', b"\xff\xfe",
    b"{\"a\":\"\xed\xa0\x80\"}", b'{"a":"\\ud800"}', b'{"a":1,"a":2}',
    b"[" * 100_000, b'{"a":' * 50_000, b"[" * 5000 + b"]" * 5000, b"9" * 10_000, b'{"a":1e999}',
    b"{}" * 100, b"\xef\xbb\xbf{}",
)  # fmt: skip
MEDIA = (
    "application/json", "application/json", "application/json", "text/plain",
    "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data",
    "application/json; charset=utf-16", "\x01", "",
)  # fmt: skip
ODD_HEADERS = (
    "authorization", "cookie", "traceparent", "x-request-id", "accept-language", "if-none-match",
    "content-encoding", "range", "origin", "idempotency-key",
)  # fmt: skip
MULTIPART = (
    b"--x\r\nContent-Disposition: form-data; name*=utf-8''%ff\r\n\r\nv\r\n--x--\r\n",
    b"--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\xff\0\"\r\n\r\nv\r\n--x--\r\n",
    b"--x\r\n\r\n\r\n--x--\r\n",
    b"--x\r\nContent-Disposition: form-data\r\n\r\nv\r\n--x--\r\n",
    b"--x" * 5000,
    b"--x\r\nContent-Type: text/plain; charset=no-such\r\n"
    b"Content-Disposition: form-data; name=a\r\n\r\nv\r\n--x--\r\n",
)  # fmt: skip


@dataclass(frozen=True)
class Route:
    """A route by its method and path, and the fields that its body or form is known to have."""

    method: str
    path: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    route: Route
    path: str
    headers: dict[str, str]
    body: bytes


def routes_with_fields(declared: Sequence[tuple[str, Any]]) -> list[Route]:
    """Return what an application's routes are called with, by what they declare."""
    found = []
    for path, route in declared:
        if isinstance(route, APIRoute):
            fields = tuple(_fields_of(route))
            found += [Route(method, path, fields) for method in sorted(route.methods or ())]
    return found


def calls(seed: int, count: int, routes: Sequence[Route]) -> Iterator[Call]:
    """Yield so many calls, the same ones for the same seed; each route has its turn."""
    draw = random.Random(seed)
    for number in range(count):
        route = routes[number % len(routes)]
        headers = _headers(draw)
        body = b"" if route.method in ("GET", "HEAD") else _body(draw, route, headers)
        yield Call(route, _path(draw, route), headers, body)


def _nested(draw: random.Random, name: str) -> bytes:
    depth = draw.choice([20, 900, 1100, 30_000])
    left, right = draw.choice([(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
    return b'{"%b":%b1%b}' % (name.encode(), left * depth, right * depth)


def _fields_of(route: APIRoute) -> Iterator[str]:
    for parameter in route.dependant.body_params:
        model = getattr(parameter.field_info, "annotation", None)
        yield from getattr(model, "model_fields", {parameter.name: None})


def _path(draw: random.Random, route: Route) -> str:
    parts = [_odd_segment(draw) if part.startswith("{") else part for part in route.path.split("/")]
    query = ""
    if draw.random() < 0.5:
        names = [
            "limit",
            "after",
            "before",
            "q",
            "number",
            "status",
            "client",
            "domain",
            "from",
            "to",
            "next",
            "x",
        ]
        query = "?" + "&".join(
            f"{draw.choice(names)}={_odd_text(draw)}" for _ in range(draw.randint(1, 4))
        )
    return "/".join(parts) + query


def _odd_segment(draw: random.Random) -> str:
    known = [
        str(uuid.UUID(int=draw.getrandbits(128))),
        f"{draw.getrandbits(127):032x}",
        "x" * 300,
        "example.com",
    ]
    return draw.choice([*known, _odd_text(draw), "%00", "%ff%fe", "..", "%2e%2e%2f", "%"])


def _odd_text(draw: random.Random) -> str:
    return quote(str(draw.choice(ODD_VALUES))[:500], safe="")


def _headers(draw: random.Random) -> dict[str, str]:
    headers = {"content-type": draw.choice(MEDIA)}
    if draw.random() < 0.3:
        name = draw.choice(ODD_HEADERS)
        headers[name] = draw.choice(
            [
                "Bearer x",
                "Bearer " + "a." * 3000,
                "\xff\xfe",
                "a=b; c",
                "*",
                "{}",
                "00-0-0-00",
                ";;;",
            ]
        )
    return headers


def _body(draw: random.Random, route: Route, headers: dict[str, str]) -> bytes:
    media = headers["content-type"]
    if media.startswith("multipart") and draw.random() < 0.8:
        return draw.choice(MULTIPART)
    names = [*route.fields, "reason", "x"]
    if draw.random() < 0.4:
        odd = [*ODD_BODIES, draw.randbytes(draw.randint(1, 400)), _nested(draw, draw.choice(names))]
        return draw.choice(odd)
    some = draw.sample(names, draw.randint(1, len(names)))
    values = {name: draw.choice(ODD_VALUES) for name in some}
    if media.endswith("urlencoded"):
        return "&".join(f"{name}={_odd_text(draw)}" for name in some).encode()
    return json.dumps(values, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
