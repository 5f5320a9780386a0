"""What a process holds of bodies: bounded in all and by sender, and given back."""

import ast
import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gatepost.errors import MethodNotAllowed
from gatepost.service.asgi import Receive, Scope, Send, read_body, respond
from gatepost.service.bodies import Bodies, name_sender
from gatepost.service.requests import RequestMetrics, Requests
from tests.heard import HeardLog, until

PIECE, MOST, LIMIT = 1000, 16_000, 6000
SHARE = MOST // 4
ROOT = Path(__file__).parents[3]
_numbers = count()


class Port:
    """A port whose application reads a body and answers when it is told to."""

    def __init__(self) -> None:
        self.bodies = Bodies(MOST)
        self.go_on = asyncio.Event()
        self.app = Requests(
            self._app,
            HeardLog(),
            RequestMetrics(f"bodies{next(_numbers)}"),
            bodies=self.bodies,
        )

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed("POST")
        if name := scope.get("named"):
            name_sender(scope, name)
        body = await read_body(receive, LIMIT)
        await self.go_on.wait()
        await respond(send, 200, b"%d" % len(body))


class Sender:
    """A request whose body comes piece by piece, as a test says."""

    def __init__(
        self, port: Port, address: str = "192.0.2.1", declared: int | None = None, **more: Any
    ) -> None:
        self.asked = 0
        self.status: int | None = None
        self.headers: dict[bytes, bytes] = {}
        self._pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        length = [] if declared is None else [(b"content-length", b"%d" % declared)]
        scope = {"method": "POST", "client": (address, 1), "headers": length} | more
        self.task = asyncio.create_task(port.app(scope, self._receive, self._send))

    async def send(self, pieces: int = 1, *, more: bool = True) -> None:
        for _ in range(pieces):
            self._pieces.put_nowait(
                {"type": "http.request", "body": b"x" * PIECE, "more_body": True}
            )
        if not more:
            self._pieces.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        await until(lambda: self.task.done() or (self._pieces.empty() and self.asked))
        for _ in range(5):
            await asyncio.sleep(0)

    async def _receive(self) -> dict[str, Any]:
        self.asked += 1
        return await self._pieces.get()

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])


async def end(port: Port, *senders: Sender) -> None:
    port.go_on.set()
    for one in senders:
        if not one.task.done():
            await one.send(0, more=False)
    await asyncio.gather(*(one.task for one in senders))
    assert port.bodies.held == 0


@pytest.mark.parametrize("by", ["address", "name"])
async def test_of_one_sender_no_more_is_held_than_its_share(by: str) -> None:
    """Forty bodies that never end were all of a process's memory."""
    port = Port()

    def sender(who: int) -> Sender:
        return Sender(port, f"192.0.2.{who}") if by == "address" else Sender(port, named=str(who))

    many = [sender(1) for _ in range(40)]
    for one in many:
        await one.send(2)
    assert port.bodies.held == SHARE
    assert [one.status for one in many] == [None] * 2 + [429] * 38
    assert {one.headers[b"retry-after"] for one in many[2:]} == {b"1"}
    other = sender(2)
    await other.send(2)
    assert other.status is None
    await end(port, other, *many)
    assert [one.status for one in many[:2]] == [200, 200]


async def test_of_all_no_more_is_held_than_a_process_has_room_for() -> None:
    port = Port()
    many = [Sender(port, f"192.0.2.{n}") for n in range(20)]
    for one in many:
        await one.send(2)
    assert port.bodies.held == MOST
    assert [one.status for one in many] == [None] * 8 + [503] * 12
    assert {one.headers[b"retry-after"] for one in many[8:]} == {b"1"}
    await end(port, *many)


async def test_what_is_held_is_held_until_it_is_answered() -> None:
    port = Port()
    first = Sender(port)
    await first.send(4, more=False)
    second = Sender(port)
    await second.send()
    assert (first.status, second.status) == (None, 429)
    await end(port, first, second)
    port.go_on.clear()
    third = Sender(port)
    await third.send(4)
    await end(port, third)
    assert third.status == 200


async def test_what_is_declared_and_has_no_room_is_not_read() -> None:
    port = Port()
    first = Sender(port)
    await first.send(3)
    for declared, status in ((PIECE + 1, 429), (PIECE, None)):
        later = Sender(port, declared=declared)
        await until(lambda later=later: later.asked or later.task.done())  # type: ignore[misc]
        assert (later.status, later.asked) == (status, 0 if status else 1)
        later.task.cancel()
    await asyncio.wait({later.task})
    await end(port, first)


async def test_what_is_declared_alone_takes_no_room() -> None:
    port = Port()
    many = [Sender(port, declared=LIMIT) for _ in range(40)]
    await many[0].send(1)
    assert (port.bodies.held, many[0].status) == (PIECE, None)
    for one in many:
        one.task.cancel()
    await asyncio.wait({one.task for one in many})
    assert port.bodies.held == 0


async def test_one_body_at_a_time_has_room_however_small_a_share_is() -> None:
    port = Port()
    alone = Sender(port, declared=LIMIT)
    await alone.send(LIMIT // PIECE)
    assert (alone.status, port.bodies.held) == (None, LIMIT)
    await end(port, alone)
    assert alone.status == 200


async def test_what_ends_badly_gives_back_what_it_had() -> None:
    port = Port()
    too_large, cut_off, other = Sender(port), Sender(port, "192.0.2.2"), Sender(port, method="GET")
    await too_large.send(LIMIT // PIECE + 1, more=False)
    await cut_off.send(2)
    cut_off._pieces.put_nowait({"type": "http.disconnect"})
    await asyncio.wait({too_large.task, cut_off.task, other.task})
    assert (too_large.status, cut_off.status, other.status) == (413, 400, 405)
    assert port.bodies.held == 0


def test_all_bodies_are_read_by_the_one_bounded_read() -> None:
    """By its deadline, too: the framework's own reading has none."""
    found = []
    for service in ("proxy", "main_server", "portal", "gatepost/service"):
        for file in (ROOT / service).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                match node:
                    case ast.Attribute(
                        value=ast.Name(id="request"), attr="body" | "json" | "form" | "stream"
                    ):
                        found.append(f"{file}:{node.lineno}")
                    case ast.Name(id="Body" | "Form" | "File" | "UploadFile"):
                        found.append(f"{file}:{node.lineno}")
    assert found == []
