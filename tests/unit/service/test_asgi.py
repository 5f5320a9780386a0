"""The bounded read: never more in memory than the limit, never longer than a moment."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gatepost.errors import Malformed, TooLarge
from gatepost.service import asgi
from gatepost.service.asgi import DISCARD_BYTES, header, read_body

LIMIT = 100
PIECE = 1 << 16


def sends(*parts: bytes, ends: bool = True) -> Callable[[], Awaitable[dict[str, Any]]]:
    """A body in these parts; without an end it is cut off."""
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": part, "more_body": True} for part in parts
    ]
    if ends:
        messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    return receive


def test_the_first_header_of_a_name_counts() -> None:
    scope = {"headers": [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")]}
    assert header(scope, b"a") == b"1"
    assert header(scope, b"c") is None


@pytest.mark.parametrize("parts", [(), (b"",), (b"x" * LIMIT,), (b"x",) * LIMIT])
async def test_a_body_up_to_the_limit_is_read(parts: tuple[bytes, ...]) -> None:
    assert await read_body(sends(*parts), LIMIT) == b"".join(parts)


@pytest.mark.parametrize("parts", [(b"x" * (LIMIT + 1),), (b"x",) * (LIMIT + 1), (b"x" * PIECE,)])
async def test_a_body_above_it_is_refused_once_it_has_ended(parts: tuple[bytes, ...]) -> None:
    """So that its sender, who may not listen before, hears the answer."""
    receive = sends(*parts)
    with pytest.raises(TooLarge, match="100 bytes"):
        await read_body(receive, LIMIT)
    assert (await receive())["type"] == "http.disconnect", "it was read to its end"


async def test_but_nobody_is_listened_to_for_ever() -> None:
    taken = 0

    async def receive() -> dict[str, Any]:
        nonlocal taken
        taken += PIECE
        return {"type": "http.request", "body": b"x" * PIECE, "more_body": True}

    with pytest.raises(TooLarge):
        await read_body(receive, LIMIT)
    assert taken <= LIMIT + DISCARD_BYTES + 2 * PIECE


async def test_what_is_cut_off_is_malformed() -> None:
    for parts in ((), (b"x",), (b"x" * PIECE,)):
        with pytest.raises(Malformed, match="ended before"):
            await read_body(sends(*parts, ends=False), LIMIT)


async def test_a_drip_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "READ_SECONDS", 0.1)

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.03)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(Malformed, match="did not arrive"):
        await read_body(receive, LIMIT)
