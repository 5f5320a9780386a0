"""One message with its story: what the ledger knows of it, and where the queue says it is.

What is accepted is in the ledger, or it is in the queue and on its way into the ledger. "Not found"
needs both to have answered.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.decoding import Undecodable
from gatepost.errors import NotFound, Unavailable
from gatepost.queue import Peeked, Queue, QueueError, Queues
from gatepost.wire.envelope import Envelope, decode
from gatepost.wire.people import UserRole
from main_server.audit.words import name_in_words
from main_server.messages.edge.repository import list_domains
from main_server.messages.reading import repository
from main_server.messages.reading.repository import Attempt, Row
from main_server.messages.reading.scope import may_see
from main_server.messages.reading.timeline import Paused, Told, Whereabouts, tell
from main_server.messages.reading.unregistered import row_of, tell_unregistered
from main_server.people.users.viewer import Viewer
from main_server.store.database import Ledger, transact
from main_server.tenants.pauses import repository as pauses
from main_server.tenants.pauses.repository import What

QUEUE_SECONDS = 1.0
"""Seconds that a page waits for the queue: it doesn't wait for a Redis that hangs. That it does is
an answer, too."""


@dataclass(frozen=True, slots=True)
class Story:
    """A message's row, and what is told of it. Where it isn't `registered` there is no row yet, and
    `row` is what one would say."""

    row: Row
    told: Told
    registered: bool = True


async def story_of(
    ledger: Ledger, queues: Queues, message_id: UUID, viewer: Viewer | None, now: datetime
) -> Story:
    """Return a message's story; for nobody in particular it is told whole: to whoever is at the
    shell of the main server."""
    found = await ledger.run(_read, message_id, viewer)
    if found is None:
        names = await ledger.run(_list_queues, viewer)
        story = await story_in_queue(queues, names, message_id, viewer, now)
        if story is not None:
            return story
        found = await ledger.run(_read, message_id, viewer)  # it may have come there meanwhile
    if found is None:
        raise NotFound()
    row, attempts = found
    where = Whereabouts(answered=True)
    if row.status == "queued":
        paused = await ledger.run(_find_pause, row.queue, viewer)
        where = replace(await ask_queue(queues, row), paused=paused)
    return Story(row, tell(row, attempts, where, _naive(now)))


def ended_story(engine: Engine, message_id: UUID, viewer: Viewer, now: datetime) -> Story | None:
    """Return the story of a message that has ended; None where it has not, as far as these rows
    say."""
    found = _read(engine, message_id, viewer)
    if found is None or found[0].status == "queued":
        return None
    return Story(found[0], tell(*found, Whereabouts(answered=True), _naive(now)))


async def ask_queue(queues: Queues, row: Row) -> Whereabouts:
    try:
        async with asyncio.timeout(QUEUE_SECONDS):
            (peeked,) = await queues.named(row.queue).peek([row.message_id])
    except (QueueError, TimeoutError):
        return Whereabouts(answered=False)
    return Whereabouts(answered=True, peeked=peeked)


async def story_in_queue(
    queues: Queues,
    names: Iterable[str | None],
    message_id: UUID,
    viewer: Viewer | None,
    now: datetime,
    *,
    ledger_answers: bool = True,
) -> Story | None:
    """Return a message's story by the queues; None where none of these has it, or it isn't the
    viewer's. Raise Unavailable if they don't answer."""
    try:
        async with asyncio.timeout(QUEUE_SECONDS):
            for name in names:
                if found := await _look_into(queues.named(name), message_id):
                    break
            else:
                return None
    except (QueueError, TimeoutError):
        raise Unavailable("The message's state can't be known just now; ask again.") from None
    envelope, peeked = found
    if viewer and not may_see(viewer, envelope.client_id, envelope.domain):
        return None
    row = row_of(envelope, peeked)
    told = tell_unregistered(row, peeked, _naive(now), ledger_answers=ledger_answers)
    shown = row if ledger_answers else replace(row, status="unknown")
    return Story(shown, told, registered=False)


async def _look_into(queue: Queue, message_id: UUID) -> tuple[Envelope, Peeked] | None:
    (payload,) = await queue.payloads([message_id.bytes])
    (peeked,) = await queue.peek([message_id.bytes])
    if payload is None or peeked is None:
        return None
    try:
        return decode(payload), peeked
    except Undecodable:
        return None  # whose it is can't be told


def _read(
    engine: Engine, message_id: UUID, viewer: Viewer | None
) -> tuple[Row, list[Attempt]] | None:
    def work(connection: Connection) -> tuple[Row, list[Attempt]] | None:
        row = repository.find_row(connection, message_id.bytes)
        if row is None or (viewer and not may_see(viewer, row.client_id, row.domain)):
            return None
        return row, repository.list_attempts(connection, message_id.bytes)

    return transact(engine, work)


def _find_pause(engine: Engine, queue: str, viewer: Viewer | None) -> Paused | None:
    """Find a queue's pause. A queue may be shared: by whom it was paused and why is for those who
    run the place (I12)."""
    found = transact(engine, lambda c: pauses.find(c, What.QUEUE, queue))
    if found is None:
        return None
    whole = viewer is None or viewer.role is UserRole.SUPER_ADMIN
    more = f" by {name_in_words(found.actor)}, “{found.reason}”" if whole else ""
    return Paused(found.since, more)


def _list_queues(engine: Engine, viewer: Viewer | None) -> list[str | None]:
    """List where a message of the viewer's may wait: the default queue, and those that domains
    have."""
    everybodys = viewer is None or viewer.role is UserRole.SUPER_ADMIN
    domains = transact(engine, list_domains)
    own = {one.queue for one in domains if everybodys or (viewer and one.name == viewer.domain)}
    return [None, *sorted(name for name in own if name)]


def _naive(now: datetime) -> datetime:
    """Return the ledger's kind of time."""
    return from_ms(to_ms(now))
