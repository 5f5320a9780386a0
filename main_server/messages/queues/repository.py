"""SQL for what waits according to the ledger, and is to wait no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, literal, select

from main_server.messages.failed.repository import MOST_COUNTED
from main_server.messages.in_state import Place, along_states, in_domain, rows_after
from main_server.store.tables import messages

_m = messages.c


@dataclass(frozen=True, slots=True)
class Selection:
    """Messages that wait, accepted before this id; of a queue, a domain, a client."""

    end_id: bytes
    queue: str | None = None
    domain: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    message_id: bytes
    client_id: str
    domain: str
    queue: str

    @property
    def place(self) -> Place:
        return Place(self.client_id, self.message_id)


def count_waiting(connection: Connection, selection: Selection) -> int:
    """Count what waits, at most `MOST_COUNTED`: so many and more take long to count."""
    query = along_states(select(literal(1)).select_from(messages), "queued")
    some = query.where(*_meant(selection)).limit(MOST_COUNTED).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())


def waits_in(connection: Connection, queue: str, domain: str) -> bool:
    """Tell whether any message of the domain waits in that queue."""
    query = along_states(select(literal(1)).select_from(messages), "queued")
    some = query.where(in_domain(domain), _m.queue == queue).limit(1)
    return connection.execute(some).first() is not None


def list_waiting(
    connection: Connection, selection: Selection, place: Place, limit: int
) -> list[Waiting]:
    """List what waits, client by client, of each the oldest first."""
    query = select(*_columns()).where(*_meant(selection))
    return [Waiting(*row) for row in rows_after(connection, query, "queued", place, limit)]


def lock_waiting(connection: Connection, ids: Sequence[bytes]) -> list[Waiting]:
    """Lock those of the messages that wait now."""
    query = select(*_columns()).where(_m.message_id.in_(sorted(ids)), _m.status == "queued")
    rows = connection.execute(query.order_by(_m.message_id).with_for_update())
    return [Waiting(*row) for row in rows]


def _columns() -> list[ColumnElement[Any]]:
    return [_m[name] for name in Waiting.__slots__]


def _meant(selection: Selection) -> list[ColumnElement[bool]]:
    conditions = [_m.message_id < selection.end_id]
    if selection.queue is not None:
        conditions.append(_m.queue == selection.queue)
    if selection.domain is not None:
        conditions.append(in_domain(selection.domain))
    if selection.client_id is not None:
        conditions.append(_m.client_id == selection.client_id)
    return conditions
