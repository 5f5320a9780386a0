"""SQL for people. A row is never deleted: a name is never used again by another."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from gatepost.wire.people import UserRole
from main_server.store.tables import password_links, redrives, user_clients, users


@dataclass(frozen=True, slots=True)
class User:
    """A person; `generation` counts how often all of their sessions were ended. Until
    `break_glass_until` nobody asks for a second step."""

    user_id: bytes
    domain: str
    name: str
    role: UserRole
    password_hash: str | None
    generation: int
    created_at: datetime
    disabled_at: datetime | None
    last_login_at: datetime | None
    time_zone: str | None = None
    break_glass_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A link by which a person sets a password, once; `made_by` is a person, or None for whoever
    has the command."""

    token_hash: bytes
    user_id: bytes
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    made_by: bytes | None = None


USER_COLUMNS = [users.c[name] for name in User.__slots__]
_link_columns = [password_links.c[name] for name in Link.__slots__]


def user_of(row: Iterable[Any]) -> User:
    """Make a User from a row of USER_COLUMNS."""
    user_id, domain, name, role, *rest = row
    return User(user_id, domain, name, UserRole(role), *rest)


def find(connection: Connection, domain: str, name: str, *, lock: bool = False) -> User | None:
    query = select(*USER_COLUMNS).where(users.c.domain == domain, users.c.name == name)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return user_of(row) if row else None


def get(connection: Connection, user_id: bytes, *, lock: bool = False) -> User | None:
    query = select(*USER_COLUMNS).where(users.c.user_id == user_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return user_of(row) if row else None


def list_users(
    connection: Connection,
    domain: str | None,
    holding: str = "",
    after: tuple[str, str] | None = None,
    limit: int | None = None,
) -> list[User]:
    """List people in order of domain and name; `holding` is a part of the name, `after` the last
    one that is known already."""
    c = users.c
    query = select(*USER_COLUMNS).order_by(c.domain, c.name).limit(limit)
    if domain is not None:
        query = query.where(c.domain == domain)
    if holding:
        query = query.where(c.name.contains(holding, autoescape=True))
    if after is not None:
        behind = and_(c.domain == after[0], c.name > after[1])
        query = query.where(c.domain >= after[0], or_(c.domain > after[0], behind))
    return [user_of(row) for row in connection.execute(query)]


def lock_active(connection: Connection, role: UserRole) -> set[bytes]:
    """Return those who can sign in with this role; nobody else can change that until the
    transaction ends."""
    c = users.c
    query = select(c.user_id).where(
        c.role == role, c.disabled_at.is_(None), c.password_hash.is_not(None)
    )
    return set(connection.execute(query.with_for_update()).scalars())


def list_client_ids(connection: Connection, user_id: bytes) -> frozenset[str]:
    query = select(user_clients.c.client_id).where(user_clients.c.user_id == user_id)
    return frozenset(connection.execute(query).scalars())


def list_clients_of_all(
    connection: Connection, user_ids: Collection[bytes]
) -> dict[bytes, list[str]]:
    """Return the clients of each of these people, in order."""
    c = user_clients.c
    query = select(c.user_id, c.client_id).where(c.user_id.in_(user_ids))
    query = query.order_by(c.user_id, c.client_id)
    found: dict[bytes, list[str]] = {}
    for user_id, client_id in connection.execute(query):
        found.setdefault(user_id, []).append(client_id)
    return found


def add(connection: Connection, user: User, client_ids: Iterable[str]) -> None:
    connection.execute(insert(users).values({n: getattr(user, n) for n in User.__slots__}))
    put_clients(connection, user.user_id, client_ids)


def put_clients(connection: Connection, user_id: bytes, client_ids: Iterable[str]) -> None:
    connection.execute(delete(user_clients).where(user_clients.c.user_id == user_id))
    rows = [{"user_id": user_id, "client_id": one} for one in sorted(client_ids)]
    if rows:
        connection.execute(insert(user_clients), rows)


def change(connection: Connection, user_id: bytes, **values: Any) -> None:
    connection.execute(update(users).where(users.c.user_id == user_id).values(**values))


def replace_hash(connection: Connection, user_id: bytes, kept: str, hashed: str) -> None:
    """Replace a hash by another one of the same password; not if the password is another one by
    now."""
    where = (users.c.user_id == user_id, users.c.password_hash == kept)
    connection.execute(update(users).where(*where).values(password_hash=hashed))


def end_sessions(connection: Connection, user_id: bytes) -> None:
    """End all sessions of a person: a session counts while its generation is the person's.

    With them end the links for their password, and those that they have made for others: whoever
    was here in their place has left nothing behind.
    """
    change(connection, user_id, generation=users.c.generation + 1)
    c = password_links.c
    theirs = or_(c.user_id == user_id, c.made_by == user_id)
    connection.execute(delete(password_links).where(theirs, c.used_at.is_(None)))


def add_link(connection: Connection, link: Link) -> None:
    """Add a link, the only one that counts: those from before are gone."""
    connection.execute(delete(password_links).where(password_links.c.user_id == link.user_id))
    connection.execute(insert(password_links).values({n: getattr(link, n) for n in Link.__slots__}))


def find_link(connection: Connection, token_hash: bytes, *, lock: bool = False) -> Link | None:
    query = select(*_link_columns).where(password_links.c.token_hash == token_hash)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Link(*row) if row else None


def use_link(connection: Connection, token_hash: bytes, now: datetime) -> None:
    where = password_links.c.token_hash == token_hash
    connection.execute(update(password_links).where(where).values(used_at=now))


def stop_redrives_of(connection: Connection, actor: str, now: datetime) -> int:
    """Stop the redrives of somebody who may not go on with them any more; return how many there
    were."""
    statement = update(redrives).where(redrives.c.actor == actor, redrives.c.state == "running")
    return connection.execute(statement.values(state="stopped", ended_at=now)).rowcount
