"""SQL for the audit log. Whoever appends locks the head: entries hang on each other in one line."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from gatepost.clock import from_ms, to_ms
from main_server.audit.chain import Entry, Head, Link, link
from main_server.store.tables import audit_head, audit_log

_COLUMNS = [audit_log.c[name] for name in Link.__slots__]


def append(connection: Connection, entry: Entry, now: datetime) -> Head:
    """Append an entry in the transaction of what it tells of, as its last act: the lock is held
    until the end."""
    new = link(entry, read_head(connection, lock=True), from_ms(to_ms(now)))
    connection.execute(
        insert(audit_log).values({name: getattr(new, name) for name in Link.__slots__})
    )
    connection.execute(update(audit_head).values(seq=new.seq, hash=new.hash))
    return Head(new.seq, new.hash)


def read_head(connection: Connection, *, lock: bool = False) -> Head:
    """Return the head; while it is locked, nobody appends until the transaction ends."""
    query = select(audit_head.c.seq, audit_head.c.hash)
    return Head(*connection.execute(query.with_for_update() if lock else query).one())


def list_links(connection: Connection, after: int, up_to: int, limit: int) -> list[Link]:
    query = select(*_COLUMNS).where(audit_log.c.seq > after, audit_log.c.seq <= up_to)
    query = query.order_by(audit_log.c.seq).limit(limit)
    return [Link(*row) for row in connection.execute(query)]
