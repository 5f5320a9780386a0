"""SQL for failed messages and their redrives. Rows leave `failed` only here, or by a late success.

    failed → queued, as a later generation · failed → failed, discarded

Rows are locked in the order of their ids, as everywhere, after the redrive that they belong to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, insert, literal, select, update

from main_server.messages.in_state import Place, along_states, in_domain, rows_after
from main_server.store.tables import domains, messages, redrives

_m, _r = messages.c, redrives.c

LASTING = ("discarded", "unreadable")
"""Reasons of failures that stay as they are: somebody wanted it so, or nobody can read the
message."""

MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True)
class Selection:
    """Failed messages that somebody means; None means all of that kind."""

    first_id: bytes
    end_id: bytes
    domain: str | None = None
    client_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Redrive:
    redrive_id: bytes
    domain: str | None
    client_id: str | None
    reason: str | None
    first_id: bytes
    end_id: bytes
    rate_per_second: int
    expected: int
    state: str
    next_at: datetime
    after_client: str
    after_id: bytes
    redriven: int
    actor: str
    created_at: datetime
    ended_at: datetime | None

    @property
    def selection(self) -> Selection:
        return Selection(self.first_id, self.end_id, self.domain, self.client_id, self.reason)

    @property
    def place(self) -> Place:
        """The place to which the redrive has come."""
        return Place(self.after_client, self.after_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts of a failed row that decide what becomes of it, and that the audit log tells."""

    message_id: bytes
    domain: str
    reason: str | None
    has_body: bool


def count_redrivable(connection: Connection, selection: Selection) -> int:
    """Count what can be redriven, at most `MOST_COUNTED`: so many and more take long to count, and
    longer to redrive."""
    query = along_states(select(literal(1)).select_from(messages), "failed")
    some = query.where(*_meant(selection)).limit(MOST_COUNTED).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())


def list_redrivable(
    connection: Connection, selection: Selection, place: Place, limit: int
) -> list[Place]:
    """List what can be redriven, client by client, of each the oldest first, as they came."""
    query = select(_m.client_id, _m.message_id).where(*_meant(selection))
    return [Place(*row) for row in rows_after(connection, query, "failed", place, limit)]


def list_places(connection: Connection, ids: Sequence[bytes]) -> list[Place]:
    query = select(_m.client_id, _m.message_id).where(_m.message_id.in_(ids))
    return [Place(*row) for row in connection.execute(query)]


def lock_failed(connection: Connection, ids: Sequence[bytes]) -> list[Standing]:
    """Lock those of the messages that are failed now."""
    columns = _m.message_id, _m.domain, _m.reason, _m.encrypted_body.is_not(None)
    query = select(*columns).where(_m.message_id.in_(sorted(ids)), _m.status == "failed")
    rows = connection.execute(query.order_by(_m.message_id).with_for_update())
    return [Standing(row[0], row[1], row[2], bool(row[3])) for row in rows]


def queue_again(
    connection: Connection, ids: Sequence[bytes], now: datetime, expires_at: datetime
) -> None:
    """Queue a later generation of each message: due now, with a time of its own. It waits where its
    domain's messages wait today, so that it is paused with them."""
    own = select(domains.c.queue).where(domains.c.domain == _m.domain).scalar_subquery()
    values = {"status": "queued", "reason": None, "due_at": now, "expires_at": expires_at}
    statement = update(messages).where(_m.message_id.in_(ids), _m.status == "failed")
    connection.execute(
        statement.values(**values, queue=func.coalesce(own, _m.queue), generation=_m.generation + 1)
    )


def discard(connection: Connection, ids: Sequence[bytes]) -> None:
    statement = update(messages).where(_m.message_id.in_(ids), _m.status == "failed")
    connection.execute(statement.values(reason="discarded"))


def add_redrive(connection: Connection, redrive: Redrive) -> None:
    values = {name: getattr(redrive, name) for name in Redrive.__slots__}
    connection.execute(insert(redrives).values(values))


def find_redrive(
    connection: Connection, redrive_id: bytes, domain: str | None, *, lock: bool = False
) -> Redrive | None:
    """Find a redrive; `domain` is the one that the asker is confined to."""
    query = _within(_redrives(), domain).where(_r.redrive_id == redrive_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Redrive(*row) if row else None


def list_redrives(connection: Connection, domain: str | None, limit: int) -> list[Redrive]:
    """List redrives, the latest first."""
    query = _within(_redrives(), domain).order_by(_r.redrive_id.desc()).limit(limit)
    return [Redrive(*row) for row in connection.execute(query)]


def lock_due(connection: Connection, now: datetime) -> Redrive | None:
    """Lock a redrive whose turn it is, and that no other main server is about."""
    query = _redrives().where(_r.state == "running", _r.next_at <= now).order_by(_r.next_at)
    row = connection.execute(query.limit(1).with_for_update(skip_locked=True)).one_or_none()
    return Redrive(*row) if row else None


def go_on(connection: Connection, redrive: Redrive, **values: Any) -> None:
    statement = update(redrives).where(_r.redrive_id == redrive.redrive_id)
    connection.execute(statement.values(**values))


def _redrives() -> Select[Any]:
    return select(*(_r[name] for name in Redrive.__slots__))


def _within(query: Select[Any], domain: str | None) -> Select[Any]:
    return query if domain is None else query.where(_r.domain == domain)


def _meant(selection: Selection) -> list[ColumnElement[bool]]:
    """Return the conditions beside the state. Along the index of states only this domain's rows are
    read."""
    conditions = [
        _m.message_id >= selection.first_id,
        _m.message_id < selection.end_id,
        _m.encrypted_body.is_not(None),
        func.coalesce(_m.reason, "").not_in(LASTING),
    ]
    if selection.domain is not None:
        conditions.append(in_domain(selection.domain))
    if selection.client_id is not None:
        conditions.append(_m.client_id == selection.client_id)
    if selection.reason is not None:
        conditions.append(_m.reason == selection.reason)
    return conditions
