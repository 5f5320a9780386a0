"""The parts of ASGI that every port of ours shares: its types, one response, one bounded read."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from gatepost.errors import Malformed, TooLarge

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

REFUSAL = "gatepost.refusal"
"""The key, in a scope, of the error for which the port refuses a request; what else is in that
scope says nothing."""

DISCARD_BYTES = 1 << 20
"""Bytes of a body that is too large that are thrown away, so that its sender hears the answer."""

READ_SECONDS = 20.0


async def respond(
    send: Send,
    status: int,
    body: bytes,
    *,
    content_type: bytes = b"application/json",
    headers: Iterable[Header] = (),
) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", content_type),
                (b"content-length", str(len(body)).encode()),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return the first header of that (lower-case) name."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


async def read_body(receive: Receive, limit: int) -> bytes:
    """Return the body, never holding more than `limit` bytes of it; a slow sender is not waited
    for."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(READ_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Malformed("The connection ended before the body did.")
                chunk = message.get("body", b"")
                size += len(chunk)
                if size <= limit:
                    parts.append(chunk)
                elif size > limit + DISCARD_BYTES:
                    raise too_large(limit)
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise Malformed(f"The body did not arrive within {READ_SECONDS:.0f} seconds.") from None
    if size > limit:
        raise too_large(limit)
    return b"".join(parts)


def too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body may have {limit} bytes at most.")
