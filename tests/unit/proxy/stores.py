"""Two stores that do what a test says, when it says so, behind the commit of the proxy."""

import asyncio
from typing import Any
from uuid import UUID

from gatepost.wire.contract import Registered, RegisterResult
from gatepost.wire.envelope import Envelope
from proxy.breaker import MISSES_TO_OPEN, Breaker
from proxy.commit import Commit, Durability
from proxy.stores import StoreRefused, StoreUnknown
from tests.factories import CLIENT_ID, DOMAIN, ids
from tests.heard import HeardLog, settled

REGISTERED = RegisterResult(result=Registered.REGISTERED)
REFUSED, UNKNOWN = StoreRefused("no"), StoreUnknown("perhaps")


def bare_envelope(message_id: UUID | None = None, queue: str = "message_queue") -> Envelope:
    """One that nobody opens."""
    return Envelope(
        message_id=message_id or ids.new(),
        client_id=CLIENT_ID,
        domain=DOMAIN,
        queue=queue,
        cert_fingerprint="ab" * 32,
        queued_at=1,
        expires_at=2,
        sealed=b"sealed",
        request_id="r",
        traceparent="t",
    )


class FakeStore:
    """Answers a commit when it is told to; what was asked is in `asked`, what of in `envelopes`."""

    def __init__(self, name: str) -> None:
        self.breaker = Breaker(name, HeardLog())
        self.asked: list[asyncio.Future[Any]] = []
        self.envelopes: list[Envelope] = []
        self.lates = 0

    def late(self) -> None:
        self.lates += 1

    def skip(self) -> None:
        """Lets the breaker open."""
        for _ in range(MISSES_TO_OPEN):
            self.breaker.missed("down")

    def _ask(self, envelope: Envelope) -> "asyncio.Future[Any]":
        self.envelopes.append(envelope)
        self.asked.append(asyncio.get_running_loop().create_future())
        return self.asked[-1]

    def answer(self, what: Any) -> None:
        answer(self.asked[-1], what)


class FakeQueue(FakeStore):
    def __init__(self) -> None:
        super().__init__("queue")
        self.marks: list[bool] = []
        self.exposing: list[asyncio.Future[Any]] = []
        self.withdrawn: list[Envelope] = []

    def commit(self, envelope: Envelope, *, exposed: bool) -> "asyncio.Future[Any]":
        self.marks.append(exposed)
        return self._ask(envelope)

    def expose(self, _envelope: Envelope) -> "asyncio.Future[Any]":
        self.exposing.append(asyncio.get_running_loop().create_future())
        return self.exposing[-1]

    def withdraw(self, envelope: Envelope) -> None:
        self.withdrawn.append(envelope)


class FakeLedger(FakeStore):
    def __init__(self) -> None:
        super().__init__("ledger")

    def commit(self, envelope: Envelope) -> "asyncio.Future[Any]":
        return self._ask(envelope)


class Stores:
    """A commit on two such stores."""

    def __init__(self) -> None:
        self.queue, self.ledger = FakeQueue(), FakeLedger()
        stores: Any = (self.queue, self.ledger)
        self.commit = Commit(*stores)

    async def post(self) -> "asyncio.Task[Durability]":
        """A message is being committed: both stores have been asked that are asked."""
        task = asyncio.create_task(self.commit.side_by_side(bare_envelope()))
        await settled()
        return task


def answer(future: "asyncio.Future[Any]", what: Any) -> None:
    if isinstance(what, Exception):
        future.set_exception(what)
    else:
        future.set_result(what)
