"""SQL for sessions, and for the tries to begin one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.mysql import insert as upsert

from main_server.people.sessions.backoff import Tried
from main_server.people.users.repository import USER_COLUMNS, User, user_of
from main_server.store.tables import sessions, sign_in_tries, users


@dataclass(frozen=True, slots=True)
class Session:
    """A session, which counts until it has ended or expired, while its generation is its person's.
    Its family is a secret that all of its refresh tokens hold, and nobody who never had one."""

    session_id: bytes
    user_id: bytes
    generation: int
    family_hash: bytes
    refresh_hash: bytes
    previous_hash: bytes | None
    created_at: datetime
    refreshed_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    previous_login_at: datetime | None
    second_step_at: datetime | None = None
    """The time at which a code was given."""
    proved_at: datetime | None = None
    """The time at which they last showed that it is them: by signing in, or once more since."""


_COLUMNS = [sessions.c[name] for name in Session.__slots__]


def add(connection: Connection, session: Session) -> None:
    row = {name: getattr(session, name) for name in Session.__slots__}
    connection.execute(insert(sessions).values(row))


def find(
    connection: Connection, session_id: bytes, *, lock: bool = False
) -> tuple[Session, User] | None:
    query = select(*_COLUMNS, *USER_COLUMNS).join(users, users.c.user_id == sessions.c.user_id)
    query = query.where(sessions.c.session_id == session_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        return None
    return Session(*row[: len(_COLUMNS)]), user_of(row[len(_COLUMNS) :])


def change(connection: Connection, session_id: bytes, **values: Any) -> None:
    where = sessions.c.session_id == session_id
    connection.execute(update(sessions).where(where).values(**values))


def forget_expired(connection: Connection, user_id: bytes, now: datetime) -> None:
    where = (sessions.c.user_id == user_id, sessions.c.expires_at < now)
    connection.execute(delete(sessions).where(*where))


def lock_tries(connection: Connection, keys: Iterable[bytes], now: datetime) -> dict[bytes, Tried]:
    """Return a row for each key, locked: tries at the same time are taken one by one."""
    keys = sorted(keys)
    rows = [{"tried": key, "failures": 0, "last_at": now} for key in keys]
    statement = upsert(sign_in_tries)
    connection.execute(statement.on_duplicate_key_update(tried=sign_in_tries.c.tried), rows)
    c = sign_in_tries.c
    query = select(c.tried, c.failures, c.last_at).where(c.tried.in_(keys)).with_for_update()
    return {row.tried: Tried(row.failures, row.last_at) for row in connection.execute(query)}


def put_tries(connection: Connection, counts: Mapping[bytes, int], now: datetime) -> None:
    statement = update(sign_in_tries).where(sign_in_tries.c.tried == bindparam("key"))
    rows = [{"key": key, "count": count} for key, count in counts.items()]
    connection.execute(statement.values(failures=bindparam("count"), last_at=now), rows)


def mark_tried(connection: Connection, key: bytes, now: datetime) -> bool:
    """Leave a mark, and return whether it was not there yet: it is forgotten as tries are."""
    row = {"tried": key, "failures": 0, "last_at": now}
    return bool(
        connection.execute(upsert(sign_in_tries).prefix_with("IGNORE").values(row)).rowcount
    )


def take_back_try(connection: Connection, here: bytes, others: Iterable[bytes]) -> None:
    """Take back a try that was a right one: here all is forgotten, elsewhere this one alone."""
    c = sign_in_tries.c
    connection.execute(delete(sign_in_tries).where(c.tried == here))
    fewer = func.greatest(c.failures - 1, 0)
    where = c.tried.in_(list(others))
    connection.execute(update(sign_in_tries).where(where).values(failures=fewer))


def forget_tries(connection: Connection, before: datetime) -> None:
    """Forget old tries, a few at a time: there are as many as names that somebody has made up."""
    connection.execute(
        delete(sign_in_tries)
        .where(sign_in_tries.c.last_at < before)
        .with_dialect_options(mysql_limit=100)
    )
