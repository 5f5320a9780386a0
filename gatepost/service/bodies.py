"""Bounds the bytes of bodies that a process has in hand: in all, and of one sender.

Bytes that have been taken in count, from when they came until their request has been answered; a
length that is declared costs nobody anything, so that nobody can fill a process by promises. But a
body that is declared to be more than there is room for is refused before it is read.
"""

from collections.abc import MutableMapping
from typing import Any

from gatepost.errors import RateLimited, Unavailable
from gatepost.service.asgi import Receive, Scope, header

MOST_BYTES = 128 * 1024 * 1024
SHARE = 4
"""One sender may have a quarter of MOST_BYTES. At the proxy that is two batches of the largest
size."""
RETRY_SECONDS = 1
_SENDER = "gatepost.sender"


class Bodies:
    """The bodies in the hands of one process, or of one of its ports."""

    def __init__(self, most: int = MOST_BYTES, share: int = SHARE) -> None:
        """Hold `most` bytes at most, of which one sender may have the `share`th part."""
        self._most = most
        self._share = most // share
        self._held = 0
        self._by_sender: dict[str, int] = {}

    @property
    def held(self) -> int:
        return self._held

    def check(self, sender: str, own: int, more: int) -> None:
        """Check that there is room for `more` bytes of a request that has its `own` already; raise
        RateLimited or Unavailable if not. A sender that has nothing else under way may have one
        body whatever its share."""
        others = self._by_sender.get(sender, 0) - own
        if others and others + own + more > self._share:
            raise RateLimited(
                "This sender has too much under way at a time. Wait for answers before you send"
                " more.",
                retry_after=RETRY_SECONDS,
            )
        if self._held > own and self._held + more > self._most:
            raise Unavailable("Too much is under way here just now.", retry_after=RETRY_SECONDS)

    def take(self, sender: str, own: int, size: int) -> None:
        """Take in `size` bytes of a request that has its `own` already; raise as `check` does."""
        if self._held + size > self._share:
            self.check(sender, own, size)
        self._held += size
        self._by_sender[sender] = self._by_sender.get(sender, 0) + size

    def give_back(self, sender: str, size: int) -> None:
        self._held -= size
        left = self._by_sender[sender] - size
        if left:
            self._by_sender[sender] = left
        else:
            del self._by_sender[sender]


class Receiving:
    """An ASGI `receive` that counts the bytes that come; `end` gives them back."""

    __slots__ = ("_bodies", "_receive", "_scope", "_sender", "_size")

    def __init__(self, bodies: Bodies, scope: Scope, receive: Receive) -> None:
        self._bodies = bodies
        self._scope = scope
        self._receive = receive
        self._sender: str | None = None
        self._size = 0

    async def __call__(self) -> MutableMapping[str, Any]:
        sender = self._sender
        if sender is None:
            sender = self._sender = self._begin()
        message = await self._receive()
        if size := len(message.get("body", b"")):
            self._bodies.take(sender, self._size, size)
            self._size += size
        return message

    def _begin(self) -> str:
        """Return the sender, who has been named by now, else the address; check the declared
        length."""
        sender: str | None = self._scope.get(_SENDER)
        if sender is None:
            address = self._scope.get("client")
            sender = str(address[0]) if address else ""
        if self._bodies.held:
            declared = header(self._scope, b"content-length") or b""
            if declared.isdigit():
                self._bodies.check(sender, 0, int(declared[:20]))
        return sender

    def end(self) -> None:
        if self._size:
            assert self._sender is not None
            self._bodies.give_back(self._sender, self._size)
            self._size = 0


def name_sender(scope: Scope, sender: str) -> None:
    """Note whose body this request's is."""
    scope[_SENDER] = sender
