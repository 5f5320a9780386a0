"""Links by which a person sets a password: made by an administrator, good once, for a day, and
until all sessions of the person, or of the administrator, are ended.

So nobody ever knows another's password. The link is shown once; we keep its digest.
"""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import NotFound, TokenRefused
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.audit.names import actor_of
from main_server.people.users import repository
from main_server.people.users.endings import end_sessions
from main_server.people.users.repository import Link, User
from main_server.store.database import transact

LIFETIME = timedelta(days=1)


def make_link(
    engine: Engine,
    user: User,
    now: datetime,
    actor: str,
    lifetime: timedelta = LIFETIME,
    made_by: bytes | None = None,
) -> str:
    """Make a link, and return its secret part. The password that the person has stays good until
    the link is used."""
    token = secrets.token_urlsafe(32)
    moment = from_ms(to_ms(now))

    def work(connection: Connection) -> None:
        found = repository.get(connection, user.user_id, lock=True)
        if found is None or found.disabled_at is not None:
            raise NotFound("There is nobody of this name, or they are disabled.")
        link = Link(_digest(token), user.user_id, moment, moment + lifetime, None, made_by)
        repository.add_link(connection, link)
        subject = actor_of(found.domain, found.name)
        entry = Entry(actor, "user.link_made", subject, found.domain)
        audit.append(connection, entry, now)

    transact(engine, work)
    return token


def whose(engine: Engine, token: str, now: datetime) -> User:
    """Return who may set a password by this link now; raise TokenRefused if nobody may."""
    return transact(engine, lambda connection: _holder(connection, token, now, lock=False))


def set_password(engine: Engine, token: str, password_hash: str, now: datetime) -> User:
    """Set a password: use the link up, and end all sessions. Raise TokenRefused if the link isn't
    good."""

    def work(connection: Connection) -> User:
        user = _holder(connection, token, now, lock=True, mine=password_hash)
        if user.password_hash == password_hash:
            return user  # an earlier try was committed after all
        repository.use_link(connection, _digest(token), from_ms(to_ms(now)))
        repository.change(connection, user.user_id, password_hash=password_hash)
        ended = end_sessions(connection, user, now)
        subject = actor_of(user.domain, user.name)
        entry = Entry(subject, "user.password_set", subject, user.domain, ended)
        audit.append(connection, entry, now)
        return user

    return transact(engine, work)


def _holder(
    connection: Connection, token: str, now: datetime, *, lock: bool, mine: str | None = None
) -> User:
    """Return who may use the link, or raise TokenRefused; `mine` is what the link has set if it was
    used by ourselves."""
    link = repository.find_link(connection, _digest(token), lock=lock)
    user = repository.get(connection, link.user_id, lock=lock) if link else None
    if link is None or user is None or user.disabled_at is not None:
        raise refused()
    used_by_another = link.used_at is not None and (mine is None or user.password_hash != mine)
    if used_by_another or link.expires_at <= from_ms(to_ms(now)):
        raise refused()
    return user


def refused() -> TokenRefused:
    return TokenRefused("This link can't be used: it was used, or is over. Ask for a new one.")


def _digest(token: str) -> bytes:
    return sha256(token.encode(errors="replace")).digest()
