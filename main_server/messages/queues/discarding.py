"""Discarding what waits, ledger first: a row says `failed`, discarded, before the queue forgets its
message, and the audit log names each in the same transaction. So nothing that was accepted vanishes
(I1, I11): it ends, by somebody's word.

What the queue holds of it afterwards, after a crash in between or with Redis away, is delivered by
nobody: a main server refuses it (main_server.messages.deliver). A message that only Redis has isn't
meant: it has a row within seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from sqlalchemy import Connection, Engine

from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.messages.in_state import START, Place
from main_server.messages.queues import repository
from main_server.messages.queues.repository import Selection, Waiting
from main_server.messages.repository import mark_failed
from main_server.store.database import transact
from main_server.tenants.pauses.service import Order, said

BATCH = 500


@dataclass(frozen=True, slots=True)
class Step:
    """The ids that a transaction has ended, by queue; and where the next begins, if there is
    one."""

    place: Place | None
    ids: Mapping[str, Sequence[bytes]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(len(ids) for ids in self.ids.values())


def count(engine: Engine, selection: Selection) -> int:
    """Count what would be discarded: the dry run."""
    return transact(engine, lambda c: repository.count_waiting(c, selection))


def discard_some(engine: Engine, selection: Selection, order: Order, place: Place = START) -> Step:
    words = said(order)

    def work(connection: Connection) -> Step:
        found = repository.list_waiting(connection, selection, place, BATCH)
        if not found:
            return Step(None)
        ended = repository.lock_waiting(connection, [one.message_id for one in found])
        if ended:
            mark_failed(connection, [one.message_id for one in ended], 0, "discarded")
        ids: dict[str, list[bytes]] = {}
        for one in ended:
            ids.setdefault(one.queue, []).append(one.message_id)
        for domain, group in groupby(sorted(ended, key=_domain), key=_domain):
            _note(connection, domain, list(group), words, order)
        return Step(found[-1].place, ids)

    return transact(engine, work)


_domain = attrgetter("domain")


def _note(
    connection: Connection, domain: str, ended: Sequence[Waiting], words: str, order: Order
) -> None:
    ids = sorted(str(UUID(bytes=one.message_id)) for one in ended)
    subject = ids[0] if len(ids) == 1 else f"{len(ids)} messages"
    details = {"reason": words, "message_ids": ids}
    entry = Entry(order.actor, "message.purged", subject, domain, details)
    audit.append(connection, entry, order.now)
