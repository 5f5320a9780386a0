"""Ledger → queue: what the ledger says waits, and the queue doesn't know, is enqueued again.

In this order, or a message that is settled meanwhile would come back: (a) ask the queue which ids
it doesn't know; (b) read those rows again, in a transaction begun after (a); (c) what still says
`queued` is sealed again and enqueued with everything that its row knows.
"""

from collections.abc import Sequence
from uuid import UUID, uuid4

from sqlalchemy import Engine

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.queue import Entry, Queues
from gatepost.trust.sealing import Sealer
from gatepost.wire.envelope import Envelope, encode
from main_server.keys.service import Keyring
from main_server.messages.in_state import START, Place
from main_server.messages.reconcile import repository
from main_server.messages.reconcile.repository import Row, Waiting
from main_server.messages.repository import mark_failed
from main_server.store.database import Ledger, transact

OVERDUE_MS = 5_000
BATCH = 2_000
"""Rows that are looked at in one step, whether they are overdue or not."""


class ToQueue:
    """A cursor that rolls over the waiting rows, client by client, again and again."""

    def __init__(self, ledger: Ledger, keyring: Keyring, queues: Queues, clock: Clock) -> None:
        self._ledger = ledger
        self._keyring = keyring
        self._queues = queues
        self._clock = clock
        self._sealer = Sealer()
        self._place = START

    def start_over(self) -> None:
        self._place = START

    async def step(self) -> tuple[int, bool]:
        """Do one batch; return how many were enqueued again, and whether the cursor has come to the
        end."""
        waiting = await self._ledger.run(_list_waiting, self._place)
        at_end = len(waiting) < BATCH
        self._place = START if at_end else waiting[-1].place
        due_before = from_ms(self._clock.now_ms() - OVERDUE_MS)
        overdue = [one for one in waiting if one.due_at < due_before]
        enqueued = 0
        for name, ids in _by_queue(overdue).items():
            queue = self._queues.named(name)
            if missing := await queue.missing(ids):
                entries = await self._ledger.run(self._seal_again, missing)
                await queue.enqueue(entries)
                enqueued += len(entries)
        return enqueued, at_end

    def _seal_again(self, engine: Engine, ids: Sequence[bytes]) -> list[Entry]:
        """Seal messages again. What can't be opened any more will never be delivered: its row says
        so."""
        entries, unreadable = [], []
        for row in transact(engine, lambda c: repository.read_queued(c, ids)):
            try:
                entries.append(self._entry(engine, row))
            except KeysUnavailable:
                continue  # the cursor comes by again
            except CannotOpen:
                unreadable.append(row.message_id)
        if unreadable:
            transact(engine, lambda c: mark_failed(c, unreadable, 0, "unreadable"))
        return entries

    def _entry(self, engine: Engine, row: Row) -> Entry:
        message_id = UUID(bytes=row.message_id)
        content = self._keyring.open_row(
            engine, message_id, row.client_id, row.domain, row.key_id, row.encrypted_body
        )
        stamp = row.client_timestamp
        envelope = Envelope(
            message_id=message_id,
            client_id=row.client_id,
            domain=row.domain,
            queue=row.queue,
            cert_fingerprint=row.cert_fingerprint.hex(),
            queued_at=to_ms(row.queued_at),
            expires_at=to_ms(row.expires_at),
            sealed=self._sealer.seal(
                self._keyring.sealing_key(), message_id, row.client_id, row.domain, content
            ),
            request_id=f"reconciler-{uuid4()}",
            traceparent="",
            client_timestamp=None if stamp is None else to_ms(stamp),
            priority=row.priority,
            ordering_mac=row.ordering_key,
        )
        return Entry(
            id=row.message_id,
            payload=encode(envelope),
            priority=row.priority,
            due_at=to_ms(row.due_at),
            expires_at=to_ms(row.expires_at),
            ordering_key=row.ordering_key,
            attempts=row.attempt_count,
            generation=row.generation,
        )


def _list_waiting(engine: Engine, place: Place) -> list[Waiting]:
    return transact(engine, lambda c: repository.list_waiting(c, place, BATCH))


def _by_queue(overdue: Sequence[Waiting]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for one in overdue:
        found.setdefault(one.queue, []).append(one.message_id)
    return found
