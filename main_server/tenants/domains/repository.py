"""SQL for domains. A row is never deleted: a name is never used again by another. The reserved
domain of the gateway's own certificates is no tenant, and is not among them here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Table, delete, func, insert, select, union, update
from sqlalchemy.dialects.mysql import insert as upsert

from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN
from main_server.store.tables import clients, domains, former_queues, password_links, users

_d, _f = domains.c, former_queues.c


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain. `queue` is None for the one that domains share, `retention_days` for as long as is
    usual, `time_zone` for UTC."""

    domain: str
    queue: str | None
    max_undelivered: int
    retention_days: int | None
    created_at: datetime
    disabled_at: datetime | None
    time_zone: str | None = None


def lock(connection: Connection) -> None:
    """Lock domains, so that they are changed one by one: what is free for one must not be taken
    meanwhile."""
    query = select(_d.domain).where(_d.domain == INFRASTRUCTURE_DOMAIN)
    connection.execute(query.with_for_update())


def find(connection: Connection, domain: str) -> Domain | None:
    row = connection.execute(_domains().where(_d.domain == domain)).one_or_none()
    return Domain(*row) if row else None


def list_domains(connection: Connection) -> list[Domain]:
    return [Domain(*row) for row in connection.execute(_domains().order_by(_d.domain))]


def add(connection: Connection, domain: Domain) -> None:
    connection.execute(insert(domains).values({n: getattr(domain, n) for n in Domain.__slots__}))


def change(connection: Connection, domain: str, **values: Any) -> None:
    connection.execute(update(domains).where(_d.domain == domain).values(**values))


def is_disabled(connection: Connection, domain: str) -> bool:
    query = select(_d.domain).where(_d.domain == domain, _d.disabled_at.is_not(None))
    return connection.execute(query).first() is not None


def find_time_zone(connection: Connection, domain: str) -> str | None:
    """Return the time zone of a domain's people who have chosen none themselves."""
    query = select(_d.time_zone).where(_d.domain == domain)
    found: str | None = connection.execute(query).scalar()
    return found


def list_queues(connection: Connection) -> list[str | None]:
    """List all queues in which messages may wait, those of disabled domains and former ones too;
    None is the one that domains share."""
    named = union(select(_d.queue).where(_d.queue.is_not(None)), select(_f.queue))
    return [None, *sorted(connection.execute(named).scalars())]


def is_queue_anothers(connection: Connection, queue: str, domain: str) -> bool:
    """Tell whether another domain has this queue, or had it: its messages may still come by it."""
    has = select(_d.domain).where(_d.queue == queue, _d.domain != domain)
    had = select(_f.domain).where(_f.queue == queue, _f.domain != domain)
    return connection.execute(union(has, had)).first() is not None


def leave_queue(connection: Connection, domain: str, queue: str, now: datetime) -> None:
    statement = upsert(former_queues).values(queue=queue, domain=domain, left_at=now)
    connection.execute(statement.on_duplicate_key_update(left_at=now))


def come_back_to_queue(connection: Connection, queue: str) -> None:
    connection.execute(delete(former_queues).where(_f.queue == queue))


def list_former_queues(connection: Connection) -> list[tuple[str, str]]:
    """List former queues, each with whose it was, the one that was left first before the others."""
    query = select(_f.queue, _f.domain).order_by(_f.left_at, _f.queue)
    return [(row[0], row[1]) for row in connection.execute(query)]


def count_clients(connection: Connection) -> dict[str, int]:
    """Count the clients that may send, as far as it is up to them; by domain."""
    return _count(connection, clients)


def count_people(connection: Connection) -> dict[str, int]:
    """Count the people who may sign in, as far as it is up to them; by domain."""
    return _count(connection, users)


def end_sessions(connection: Connection, domain: str) -> None:
    """End the sessions of all people of a domain: a session counts while its generation is its
    person's. The links for their passwords end with them, as where one person's are ended."""
    statement = update(users).where(users.c.domain == domain)
    connection.execute(statement.values(generation=users.c.generation + 1))
    theirs = password_links.c.user_id.in_(select(users.c.user_id).where(users.c.domain == domain))
    connection.execute(delete(password_links).where(theirs, password_links.c.used_at.is_(None)))


def _domains() -> Select[Any]:
    columns = [_d[name] for name in Domain.__slots__]
    return select(*columns).where(_d.domain != INFRASTRUCTURE_DOMAIN)


def _count(connection: Connection, members: Table) -> dict[str, int]:
    query = select(members.c.domain, func.count()).where(members.c.disabled_at.is_(None))
    return {row[0]: row[1] for row in connection.execute(query.group_by(members.c.domain))}


def has_domain(connection: Connection, domain: str) -> bool:
    query = select(_d.domain).where(_d.domain == domain)
    return connection.execute(query).one_or_none() is not None
