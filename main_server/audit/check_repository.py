"""SQL for checks of the audit log: how far each has come, so that any main server can go on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from main_server.audit.chain import Head
from main_server.store.tables import audit_checks

_c = audit_checks.c


@dataclass(frozen=True, slots=True)
class Check:
    """A walk from the first entry to `head`, which has come to `at`; `up_to` is that entry's
    time."""

    check_id: bytes
    state: str
    actor: str
    created_at: datetime
    next_at: datetime
    head_seq: int
    head_hash: bytes
    seq: int
    hash: bytes
    up_to: datetime | None = None
    fault: str | None = None
    ended_at: datetime | None = None

    @property
    def head(self) -> Head:
        return Head(self.head_seq, self.head_hash)

    @property
    def at(self) -> Head:
        return Head(self.seq, self.hash)


def add(connection: Connection, check: Check) -> None:
    values = {name: getattr(check, name) for name in Check.__slots__}
    connection.execute(insert(audit_checks).values(values))


def find_latest(connection: Connection) -> Check | None:
    row = connection.execute(_checks().order_by(_c.check_id.desc()).limit(1)).one_or_none()
    return Check(*row) if row else None


def find_running(connection: Connection) -> Check | None:
    query = _checks().where(_c.state == "running").order_by(_c.next_at).limit(1)
    row = connection.execute(query).one_or_none()
    return Check(*row) if row else None


def find_last_ended(connection: Connection) -> Check | None:
    query = _checks().where(_c.state != "running").order_by(_c.check_id.desc())
    row = connection.execute(query.limit(1)).one_or_none()
    return Check(*row) if row else None


def lock_due(connection: Connection, now: datetime) -> Check | None:
    """Lock a check whose turn it is, and that no other main server is about."""
    query = _checks().where(_c.state == "running", _c.next_at <= now).order_by(_c.next_at)
    row = connection.execute(query.limit(1).with_for_update(skip_locked=True)).one_or_none()
    return Check(*row) if row else None


def go_on(connection: Connection, check: Check, **values: Any) -> None:
    statement = update(audit_checks).where(_c.check_id == check.check_id)
    connection.execute(statement.values(**values))


def _checks() -> Select[Any]:
    return select(*(_c[name] for name in Check.__slots__))
