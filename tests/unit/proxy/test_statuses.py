"""Where a message stands: the ledger first, else the queue; "not found" needs both to answer."""

from typing import Any

import httpx
import pytest

from gatepost.clock import iso
from gatepost.errors import NotFound, Unavailable
from gatepost.queue import Peeked, Place, QueueUnavailable
from gatepost.wire.envelope import Envelope, encode
from proxy.statuses import Statuses
from tests import factories
from tests.factories import CLIENT_ID, identity

RING = factories.keyring()
FOUND = {"status": "delivered"}


class World:
    """A main server and a queue that answer as they are told, and remember that they were asked."""

    def __init__(self, ledger: list[Any], queue: list[Any]) -> None:
        self.asked: list[str] = []
        self.attempts = 0
        self._ledger, self._queue = ledger, queue
        transport = httpx.MockTransport(self._answer)
        client = httpx.AsyncClient(transport=transport, base_url="https://main")
        queues: Any = self
        self.statuses = Statuses(client, queues)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append("ledger")
        assert request.url.params["client_id"] == CLIENT_ID
        told = self._ledger.pop(0)
        if isinstance(told, Exception):
            raise told
        if isinstance(told, int):
            return httpx.Response(told)
        if isinstance(told, bytes):
            return httpx.Response(200, content=told)
        return httpx.Response(200, json=told) if told else httpx.Response(404)

    def named(self, _name: str | None) -> "World":
        return self

    async def payloads(self, _ids: list[bytes]) -> list[bytes | None]:
        self.asked.append("queue")
        told = self._queue.pop(0)
        if isinstance(told, Exception):
            raise told
        return [encode(told) if isinstance(told, Envelope) else told]

    async def peek(self, ids: list[bytes]) -> list[Peeked | None]:
        found = Peeked(ids[0], Place.READY, attempts=self.attempts)
        return [found if self.attempts else None]

    async def show(self) -> dict[str, Any]:
        return await self.statuses.show(factories.ids.new(), identity(), None)


async def test_the_ledger_is_asked_first_and_is_enough() -> None:
    world = World([FOUND], [])
    assert await world.show() == FOUND
    assert world.asked == ["ledger"]


async def test_what_only_the_queue_has_is_queued() -> None:
    """A delivery leaves a row, and the ledger has said that there is none."""
    world = World([None], [factories.envelope(RING)])
    found = await world.show()
    assert found["status"] == "queued"
    assert "source" not in found


async def test_where_the_ledger_can_not_be_asked_the_queue_never_says_that_it_waits() -> None:
    """It may be delivered: a worker has lost the answer, or Redis was set back since."""
    envelope = factories.envelope(RING)
    for attempts in (0, 3):
        world = World([500], [envelope])
        world.attempts = attempts
        found = await world.show()
        assert (found["status"], found["source"]) == ("unknown", "queue")
        assert found["attempt_count"] == attempts
        assert found["queued_at"] == found["created_at"] == iso(envelope.queued_at)


async def test_what_left_the_queue_for_the_ledger_meanwhile_is_found() -> None:
    world = World([None, FOUND], [None])
    assert await world.show() == FOUND
    assert world.asked == ["ledger", "queue", "ledger"]


async def test_not_found_needs_both_to_have_answered() -> None:
    with pytest.raises(NotFound):
        await World([None, None], [None]).show()


SILENT = [
    httpx.ConnectError("no"),
    httpx.ReadTimeout("no"),
    500,
    503,
    403,
    b"this is not JSON",
]


@pytest.mark.parametrize("silence", SILENT, ids=str)
async def test_where_the_ledger_is_silent_the_queue_may_know_or_nobody_does(silence: Any) -> None:
    assert (await World([silence], [factories.envelope(RING)]).show())["status"] == "unknown"
    with pytest.raises(Unavailable):
        await World([silence, silence], [None]).show()
    assert await World([silence, FOUND], [None]).show() == FOUND


async def test_where_the_queue_is_silent_the_ledger_may_know_or_nobody_does() -> None:
    assert await World([FOUND], [QueueUnavailable()]).show() == FOUND
    with pytest.raises(Unavailable):
        await World([None, None], [QueueUnavailable()]).show()


@pytest.mark.parametrize(
    "given", [{"client_id": "example.com:other"}, {"client_id": "example.org:client_001"}]
)
async def test_anothers_message_in_the_queue_is_not_there(given: dict[str, Any]) -> None:
    theirs = factories.envelope(RING, **given)
    with pytest.raises(NotFound):
        await World([None, None], [theirs]).show()


async def test_what_in_the_queue_is_no_envelope_is_not_there() -> None:
    with pytest.raises(NotFound):
        await World([None, None], [b"noise"]).show()
