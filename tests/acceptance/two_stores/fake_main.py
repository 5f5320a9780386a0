"""A main server that says what a test wants: real TLS, the real certificate, the real wire forms.

The real one has hardly a reason yet to refuse a message for now.
"""

import asyncio
import gc
import socket
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.service.asgi import Receive, Scope, Send, read_body, respond
from gatepost.service.live import Live
from gatepost.service.serving import serve
from gatepost.trust.tls import TlsFiles, server_context
from gatepost.wire.contract import (
    DeliverAnswer,
    DeliverResult,
    DeliveryOffer,
    QueueNames,
    Result,
    SettleItem,
    decode_deliver_request,
    decode_settle_request,
    encode_json,
)
from infra.dev.ports import HOST, is_free
from tests.heard import wait_until

DELIVER, SETTLE = "/internal/messages/deliver", "/internal/messages/settle"


@dataclass(frozen=True)
class Attempt:
    """A message was offered, at a time."""

    message_id: UUID
    number: int
    at: float = field(default_factory=time.monotonic)


Decide = Callable[[DeliveryOffer], DeliverResult]


def result(offer: DeliveryOffer, kind: Result, **given: Any) -> DeliverResult:
    return DeliverResult(message_id=offer.message_id, result=kind, **given)


def deliver(offer: DeliveryOffer) -> DeliverResult:
    return result(offer, Result.DELIVERED)


def refuse(offer: DeliveryOffer) -> DeliverResult:
    return result(offer, Result.REFUSED, reason="busy", retryable=True)


class FakeMain:
    """`decide` answers an offer, `status` a path with an error; `pause` holds answers up."""

    def __init__(self, files: TlsFiles, port: int, queues: list[str | None]) -> None:
        self._files, self._port, self._queues = files, port, queues
        self.decide: Decide = deliver
        self.status: Callable[[str], int] = lambda _path: 200
        self.pause = 0.0
        self.attempts: list[Attempt] = []
        self.settled: list[SettleItem] = []
        self.on_settle: Callable[[SettleItem], None] = lambda _item: None
        self.calls: list[str] = []

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *_: Any) -> None:
        self.end()

    def begin(self) -> None:
        wait_until(lambda: is_free(self._port))  # who was killed there may take a moment to end
        self._sock = socket.create_server((HOST, self._port), backlog=100)
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._sock.setblocking(False)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        with warnings.catch_warnings():  # of a handshake that was under way and never ends
            warnings.simplefilter("ignore", ResourceWarning)
            self._loop.close()
            gc.collect()

    def _run(self) -> None:
        tls = server_context(self._files, lambda _reason: None)
        self._loop.run_until_complete(
            serve(self._app, self._sock, tls, self._stop, Live(Log("test", "error")))
        )

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        self.calls.append(path)
        body = await read_body(receive, 1 << 25)
        await pause(self._stop, self.pause)
        status = self.status(path)
        answer = b"{}" if status != 200 else self._answer(path, body)
        await respond(send, status, answer)

    def _answer(self, path: str, body: bytes) -> bytes:
        if path == DELIVER:
            offers = decode_deliver_request(body).deliveries
            self.attempts += [Attempt(one.message_id, one.attempt) for one in offers]
            return encode_json(DeliverAnswer([self.decide(one) for one in offers]))
        if path == SETTLE:
            for item in decode_settle_request(body).settlements:
                self.on_settle(item)
                self.settled.append(item)
            return b"{}"
        return encode_json(QueueNames(self._queues))

    def attempts_of(self, message_id: UUID) -> list[Attempt]:
        return [one for one in list(self.attempts) if one.message_id == message_id]

    def delivered(self, *ids: UUID) -> bool:
        """Whether each of them was offered at least once."""
        return set(ids) <= {one.message_id for one in list(self.attempts)}
