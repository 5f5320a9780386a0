"""Queue → ledger: what only Redis has is registered, each message for itself (I1)."""

import asyncio
from typing import Any

import pytest

from gatepost.queue import Entry, QueueUnavailable
from gatepost.wire.envelope import Envelope, encode
from main_server.messages import repository
from main_server.messages.reconcile.to_ledger import Drained
from tests.factories import changed, ids, keyring
from tests.factories import envelope as foreign_envelope
from tests.integration.main_server.messages.reconcile.conftest import Odds


async def exposed(odds: Odds) -> int:
    return (await odds.queue.stats()).exposed


async def test_what_only_redis_has_is_registered_and_goes_on_waiting(odds: Odds) -> None:
    envelopes = [odds.room.envelope() for _ in range(3)]
    await odds.enqueued(*envelopes, exposed=True)
    assert await odds.to_ledger().drain(odds.queue) == Drained(3)
    assert odds.states(envelopes) == {("queued", None)}
    assert await exposed(odds) == 0
    assert len(await odds.waiting(envelopes)) == 3
    assert await odds.to_ledger().drain(odds.queue) == Drained(0)


async def test_however_many_there_are(odds: Odds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("main_server.messages.reconcile.to_ledger.BATCH", 20)
    envelopes = [odds.room.envelope() for _ in range(130)]
    await odds.enqueued(*envelopes, exposed=True)
    assert (await odds.to_ledger().drain(odds.queue)).registered >= 130
    assert odds.room.count_rows() == 130
    assert await exposed(odds) == 0


async def test_the_sender_was_told_so_each_leaves_a_row(odds: Odds) -> None:
    """What can't be queued any more says why; what isn't readable doesn't hold up the others."""
    good, twin = (odds.room.envelope(key_mac=b"k" * 32, payload_mac=b"p" * 32) for _ in range(2))
    late = changed(odds.room.envelope(), expires_at=1_000)
    sealed_to_nobody = foreign_envelope(
        keyring(), client_id=odds.room.client_id, domain=odds.room.domain
    )
    await odds.enqueued(good, twin, sealed_to_nobody, exposed=True)
    no_utf8 = b'{"request_id":"\xff"}'
    nothing = [Entry(id=ids.new().bytes, payload=one, exposed=True) for one in (b"?", no_utf8)]
    await odds.queue.enqueue([_entry(late), *nothing])

    await odds.to_ledger().drain(odds.queue)

    assert odds.room.status(good.message_id)[:2] == ("queued", None)
    twin_row = odds.room.row(twin.message_id)
    assert twin_row is not None
    assert (twin_row["status"], twin_row["duplicate_of"]) == ("duplicate", good.message_id.bytes)
    assert odds.room.status(late.message_id)[:2] == ("failed", "expired")
    assert odds.room.status(sealed_to_nobody.message_id)[:2] == ("failed", "unreadable")
    assert await exposed(odds) == 0


def _entry(envelope: Envelope) -> Entry:
    return Entry(id=envelope.message_id.bytes, payload=encode(envelope), exposed=True)


async def test_a_second_post_under_the_key_that_the_ledger_knows_is_its_duplicate(
    odds: Odds,
) -> None:
    """The first went to the ledger while Redis was away, the second to Redis without the ledger."""
    first, second = (odds.room.envelope(key_mac=b"k" * 32, payload_mac=b"p" * 32) for _ in range(2))
    odds.room.register(first)
    await odds.enqueued(second, exposed=True)
    await odds.to_ledger().drain(odds.queue)
    row = odds.room.row(second.message_id)
    assert row is not None
    assert (row["status"], row["duplicate_of"]) == ("duplicate", first.message_id.bytes)
    while await odds.deliver_some():
        pass
    assert odds.room.status(second.message_id)[0] == "duplicate"
    assert odds.room.status(first.message_id)[0] == "queued"


async def test_another_message_under_its_key_is_counted_as_a_conflict_and_keeps_its_body(
    odds: Odds,
) -> None:
    first = odds.room.envelope(key_mac=b"k" * 32, payload_mac=b"p" * 32)
    second = odds.room.envelope(key_mac=b"k" * 32, payload_mac=b"q" * 32)
    odds.room.register(first)
    await odds.enqueued(second, exposed=True)
    assert await odds.to_ledger().drain(odds.queue) == Drained(registered=1, conflicts=1)
    row = odds.room.row(second.message_id)
    assert row is not None
    assert (row["status"], row["reason"]) == ("failed", "key_conflict")
    assert row["encrypted_body"] is not None
    assert await exposed(odds) == 0


@pytest.mark.parametrize("status", ["delivered", "failed", "erased", "duplicate"])
async def test_what_has_ended_meanwhile_stays_so(odds: Odds, status: str) -> None:
    (ended,) = odds.registered(1)
    odds.room.force(ended.message_id, status=status, reason="refused")
    before = odds.room.row(ended.message_id)
    await odds.enqueued(ended, exposed=True)
    await odds.to_ledger().drain(odds.queue)
    assert odds.room.row(ended.message_id) == before
    assert await exposed(odds) == 0


class Forgetful:
    """A queue that breaks off before it has noted that the ledger has them."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    async def registered(self, _ids: Any) -> None:
        raise QueueUnavailable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


async def test_broken_off_between_the_stores_it_is_done_again_once(odds: Odds) -> None:
    envelopes = [odds.room.envelope() for _ in range(3)]
    await odds.enqueued(*envelopes, exposed=True)
    broken: Any = Forgetful(odds.queue)
    with pytest.raises(QueueUnavailable):
        await odds.to_ledger().drain(broken)
    assert await exposed(odds) == 3
    await odds.to_ledger().drain(odds.queue)
    assert odds.room.count_rows() == 3
    assert await exposed(odds) == 0


async def test_two_main_servers_at_once_register_each_once(odds: Odds) -> None:
    envelopes = [odds.room.envelope() for _ in range(200)]
    await odds.enqueued(*envelopes, exposed=True)
    await asyncio.gather(*(odds.to_ledger().drain(odds.queue) for _ in range(4)))
    assert odds.room.count_rows() == 200
    assert await exposed(odds) == 0


async def test_what_the_ledger_can_not_store_stays_exposed_and_is_not_hammered(
    odds: Odds, monkeypatch: pytest.MonkeyPatch
) -> None:
    envelopes = [odds.room.envelope() for _ in range(5)]
    bad = envelopes[2].message_id
    real, tries = repository.insert_queued, 0

    def insert(connection, rows, *rest):  # type: ignore[no-untyped-def]
        nonlocal tries
        tries += 1
        real(
            connection,
            [dict(r, queue="q" * 500) if r["message_id"] == bad.bytes else r for r in rows],
            *rest,
        )

    monkeypatch.setattr(repository, "insert_queued", insert)
    await odds.enqueued(*envelopes, exposed=True)
    assert await odds.to_ledger().drain(odds.queue) == Drained(4)
    assert odds.room.count_rows() == 4
    assert await exposed(odds) == 1
    assert tries < 20
    monkeypatch.undo()
    assert await odds.to_ledger().drain(odds.queue) == Drained(1)
    assert odds.room.status(bad)[0] == "queued"
