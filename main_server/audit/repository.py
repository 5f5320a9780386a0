"""SQL for the audit log. Who appends locks the head: entries hang on each other in one line."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from gatepost.clock import from_ms, to_ms
from main_server.audit.chain import Entry, Head, Link, link
from main_server.tables import audit_head, audit_log

_COLUMNS = [audit_log.c[name] for name in Link.__slots__]


def append(connection: Connection, entry: Entry, now: datetime) -> Head:
    """In the transaction of what it tells of, as its last act: the lock is held until the end."""
    query = select(audit_head.c.seq, audit_head.c.hash).with_for_update()
    new = link(entry, Head(*connection.execute(query).one()), from_ms(to_ms(now)))
    connection.execute(
        insert(audit_log).values({name: getattr(new, name) for name in Link.__slots__})
    )
    connection.execute(update(audit_head).values(seq=new.seq, hash=new.hash))
    return Head(new.seq, new.hash)


def read_head(connection: Connection) -> Head:
    return Head(*connection.execute(select(audit_head.c.seq, audit_head.c.hash)).one())


def list_links(connection: Connection, after: int, limit: int) -> list[Link]:
    query = select(*_COLUMNS).where(audit_log.c.seq > after).order_by(audit_log.c.seq).limit(limit)
    return [Link(*row) for row in connection.execute(query)]


def list_latest(
    connection: Connection, limit: int, domain: str | None = None, before: int | None = None
) -> list[Link]:
    """The latest first."""
    query = select(*_COLUMNS).order_by(audit_log.c.seq.desc()).limit(limit)
    if domain is not None:
        query = query.where(audit_log.c.domain == domain)
    if before is not None:
        query = query.where(audit_log.c.seq < before)
    return [Link(*row) for row in connection.execute(query)]
