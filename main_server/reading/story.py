"""One message with its story: what the ledger knows of it, and where the queue says it is."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import NotFound
from gatepost.queue import QueueError, Queues
from main_server.database import Ledger, transact
from main_server.reading import repository
from main_server.reading.repository import Attempt, Row
from main_server.reading.scope import may_see
from main_server.reading.timeline import Told, Whereabouts, tell
from main_server.users.viewer import Viewer

QUEUE_SECONDS = 1.0
"""A page doesn't wait for a Redis that hangs: that it does is an answer, too."""


@dataclass(frozen=True, slots=True)
class Story:
    row: Row
    told: Told


async def story_of(
    ledger: Ledger, queues: Queues, message_id: UUID, viewer: Viewer | None, now: datetime
) -> Story:
    """For nobody in particular it is told whole: to who is at the shell of the main server."""
    row, attempts = await ledger.run(_read, message_id, viewer)
    where = Whereabouts(answered=True)
    if row.status == "queued":
        where = await ask_queue(queues, row)
    return Story(row, tell(row, attempts, where, from_ms(to_ms(now))))


async def ask_queue(queues: Queues, row: Row) -> Whereabouts:
    try:
        async with asyncio.timeout(QUEUE_SECONDS):
            (peeked,) = await queues.named(row.queue).peek([row.message_id])
    except (QueueError, TimeoutError):
        return Whereabouts(answered=False)
    return Whereabouts(answered=True, peeked=peeked)


def _read(engine: Engine, message_id: UUID, viewer: Viewer | None) -> tuple[Row, list[Attempt]]:
    def work(connection: Connection) -> tuple[Row, list[Attempt]]:
        row = repository.find_row(connection, message_id.bytes)
        if row is None or (viewer and not may_see(viewer, row.client_id, row.domain)):
            raise NotFound()
        return row, repository.list_attempts(connection, message_id.bytes)

    return transact(engine, work)
