"""Signing in, staying signed in, signing out.

A session lives by its refresh token, which is replaced each time it is shown. The one before stays
good until the new one is shown: answers get lost on their way to a browser. Whoever shows any other
that there was has stolen it, or was stolen from: the session ends. For a moment the one before is
answered without another one, since a browser asks for several pages at once. All that a session may
do is asked of the ledger, at each request (`main_server.api.viewers`).
"""

import hmac
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil
from uuid import UUID, uuid4

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import NotSignedIn, TooManyTries, WrongCredentials
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.audit.names import actor_of, is_name
from main_server.people import authenticator_repository as authenticators
from main_server.people.sessions import repository
from main_server.people.sessions.backoff import (
    FORGOTTEN,
    Kind,
    keys_for,
    mark_of,
    shown,
    wait_before,
    with_another,
)
from main_server.people.sessions.repository import Session
from main_server.people.users import repository as people
from main_server.people.users.repository import User
from main_server.people.users.service import is_still
from main_server.store.database import transact
from main_server.tenants.domains.repository import find_time_zone, is_disabled

LIFETIME = timedelta(hours=12)
"""The life of a session: a day's work; then one signs in again."""
IDLE = timedelta(hours=2)
BOTH_COUNT = timedelta(seconds=10)
"""The time for which whoever shows the token before keeps the one that they may have been given
meanwhile."""
UNTIL_CODE = timedelta(minutes=10)
"""The time that one has to look for one's phone after the password."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Somebody's session; the refresh token is None where the one that was shown stays."""

    session_id: UUID
    user: User
    client_ids: frozenset[str]
    refresh_token: str | None
    whole: bool = True
    """False until a code was given, where one is wanted."""
    time_zone: str | None = None
    """The person's own, or that of their domain."""


@dataclass(frozen=True, slots=True)
class Try:
    """One try to sign in, counted before it is known whether it is a good one. If it is, nothing
    is held against `here` any more, and it is taken off the `others`."""

    here: bytes
    others: tuple[bytes, ...]
    user: User | None


def begin_try(
    engine: Engine,
    domain: str,
    name: str,
    address: str,
    now: datetime,
    known: str | None = None,
    counted: str | None = None,
) -> Try:
    """Begin a try; raise TooManyTries if it comes too soon. What is tried side by side is counted
    one by one.

    `known` is a browser in which this account's holder has signed in, or their session. `counted`
    is what the account is counted as, where it isn't its password that is tried.
    """
    moment = from_ms(to_ms(now))
    keys = keys_for(domain, counted or name, address, known)

    def work(connection: Connection) -> Try:
        repository.forget_tries(connection, moment - FORGOTTEN)
        tried = repository.lock_tries(connection, keys.values(), moment)
        waits = [wait_before(kind, tried[key], moment) for kind, key in keys.items()]
        if longest := max(waits).total_seconds():
            raise TooManyTries(retry_after=ceil(longest))
        counts = {kind: with_another(kind, tried[key], moment) for kind, key in keys.items()}
        repository.put_tries(connection, {keys[one]: counts[one] for one in counts}, moment)
        user = _find(connection, domain, name)
        if any(counts.get(kind) == kind.value for kind in (Kind.HERE, Kind.ACCOUNT)):
            _note_slowed(connection, domain, counted or name, address, user, now)
        others = tuple(key for kind, key in keys.items() if kind is not Kind.HERE)
        return Try(keys[Kind.HERE], others, user)

    return transact(engine, work)


def forgive(engine: Engine, tried: Try) -> None:
    """Take back a try that was no guess."""
    transact(engine, lambda c: repository.take_back_try(c, tried.here, tried.others))


def open_session(engine: Engine, tried: Try, now: datetime) -> Opened:
    """Open a session after the right password. Raise WrongCredentials if meanwhile they may not
    sign in any more.

    Whoever has an authenticator gets a session that is good for giving a code, and for a few
    minutes.
    """
    new = new_session()

    def work(connection: Connection) -> Opened:
        user = people.get(connection, tried.user.user_id, lock=True) if tried.user else None
        if tried.user is None or user is None or not is_still(user, tried.user):
            raise WrongCredentials()
        if is_disabled(connection, user.domain):
            raise WrongCredentials()
        whole = authenticators.confirmed_at(connection, user.user_id) is None
        if repository.find(connection, new.session_id.bytes) is None:
            repository.take_back_try(connection, tried.here, tried.others)
            if whole:
                begin(connection, new, user, now)
            else:
                add(connection, new, user, from_ms(to_ms(now)), UNTIL_CODE)
                audit.append(connection, entry("session.begun", user, new.session_id), now)
        return replace(opened_of(connection, new, user), whole=whole)

    return transact(engine, work)


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session made before the transaction: if that is run again, it is still the same one."""

    session_id: UUID
    family: str
    secret: str


def new_session() -> NewSession:
    return NewSession(uuid4(), secrets.token_urlsafe(16), secrets.token_urlsafe(32))


def begin(
    connection: Connection,
    new: NewSession,
    user: User,
    now: datetime,
    second_step: str | None = None,
) -> None:
    """Begin a whole session of somebody who has given all that was wanted, a code of this kind
    too."""
    moment = from_ms(to_ms(now))
    given_at = moment if second_step else None
    add(connection, new, user, moment, LIFETIME, second_step_at=given_at, proved_at=moment)
    people.change(connection, user.user_id, last_login_at=moment)
    more: dict[str, object] = {"second_step": second_step} if second_step else {}
    if user.break_glass_until is not None:
        more["break_glass"] = True
    audit.append(connection, entry("session.opened", user, new.session_id, **more), now)


def add(
    connection: Connection,
    new: NewSession,
    user: User,
    moment: datetime,
    lifetime: timedelta,
    *,
    second_step_at: datetime | None = None,
    proved_at: datetime | None = None,
) -> None:
    repository.forget_expired(connection, user.user_id, moment)
    session = Session(
        new.session_id.bytes,
        user.user_id,
        user.generation,
        _digest(new.family),
        _digest(new.secret),
        None,
        moment,
        moment,
        moment + lifetime,
        None,
        user.last_login_at,
        second_step_at,
        proved_at,
    )
    repository.add(connection, session)


def opened_of(connection: Connection, new: NewSession, user: User) -> Opened:
    client_ids = people.list_client_ids(connection, user.user_id)
    token = _token(new.session_id, new.family, new.secret)
    zone = time_zone_of(connection, user)
    return Opened(new.session_id, user, client_ids, token, time_zone=zone)


def refresh(
    engine: Engine, token: str, now: datetime, serves: Callable[[str], bool] = lambda _domain: True
) -> Opened:
    """Return a session by its refresh token; raise NotSignedIn if that isn't good any more. If it
    was replaced, its session is ended before.

    `serves` says whether the portal that asks is there for people of a domain; others aren't known
    to it.
    """
    session_id, family, shown = _parse(token)
    secret, moment = secrets.token_urlsafe(32), from_ms(to_ms(now))

    def work(connection: Connection) -> Opened | None:
        found = repository.find(connection, session_id.bytes, lock=True)
        if found is None or not is_alive(*found, moment) or not serves(found[1].domain):
            return None
        session, user = found
        if not _is_same(session.family_hash, _digest(family)):
            return None  # a guess: nothing becomes of the session
        client_ids = people.list_client_ids(connection, user.user_id)
        fresh, zone = _token(session_id, family, secret), time_zone_of(connection, user)
        renewed = Opened(session_id, user, client_ids, fresh, time_zone=zone)
        if _is_same(session.refresh_hash, _digest(secret)):
            return renewed  # an earlier try was committed after all
        newest, before = _is_same(session.refresh_hash, shown), _is_before(session, shown)
        if before and moment - session.refreshed_at < BOTH_COUNT:
            return replace(renewed, refresh_token=None)
        if newest or before:
            _replace(connection, session, shown, _digest(secret), moment)
            return renewed
        repository.change(connection, session.session_id, ended_at=moment)
        audit.append(connection, entry("session.token_reused", user, session_id), now)
        return None

    opened = transact(engine, work)
    if opened is None:
        raise NotSignedIn("This session is over. Sign in again.")
    return opened


def end(engine: Engine, session_id: UUID, now: datetime) -> None:
    transact(engine, lambda connection: _end(connection, session_id, now, None))


def end_by(engine: Engine, token: str, now: datetime) -> None:
    """End the session that a browser had in which somebody has signed in again: nobody would ever
    use it. A token that is none, or a guess, does nothing."""
    with suppress(NotSignedIn):
        session_id, family, _ = _parse(token)
        transact(engine, lambda connection: _end(connection, session_id, now, _digest(family)))


def _end(connection: Connection, session_id: UUID, now: datetime, family: bytes | None) -> None:
    """End a session; `family` is of the token by which it is ended, if it is by one."""
    found = repository.find(connection, session_id.bytes, lock=True)
    if found is None or found[0].ended_at is not None:
        return
    if family is not None and not _is_same(found[0].family_hash, family):
        return
    more = {"because": "signed in again"} if family is not None else {}
    repository.change(connection, session_id.bytes, ended_at=from_ms(to_ms(now)))
    audit.append(connection, entry("session.ended", found[1], session_id, **more), now)


def is_alive(session: Session, user: User, moment: datetime) -> bool:
    """Tell whether what comes by this session is its person's, at this (naive, UTC) time."""
    return (
        session.ended_at is None
        and user.disabled_at is None
        and session.generation == user.generation
        and moment < session.expires_at
        and moment - session.refreshed_at < IDLE
    )


def time_zone_of(connection: Connection, user: User) -> str | None:
    return user.time_zone or find_time_zone(connection, user.domain)


def _find(connection: Connection, domain: str, name: str) -> User | None:
    """Find a person. What can't be a name is not put into a query: the ledger's names are ASCII."""
    return people.find(connection, domain, name) if is_name(name) and domain.isascii() else None


def _note_slowed(
    connection: Connection,
    domain: str,
    name: str,
    address: str,
    user: User | None,
    now: datetime,
) -> None:
    """Note, once in a while, that an account's free tries are used up. Do so for a name that nobody
    has, too, in as many words: else it would take less time. But don't say which name: people type
    passwords."""
    if not repository.mark_tried(connection, mark_of(domain, name), from_ms(to_ms(now))):
        return
    subject = actor_of(user.domain, user.name) if user else "nobody of this name"
    about = shown(domain, name, address)
    owner = user.domain if user else None
    audit.append(connection, Entry(SYSTEM, "session.slowed_down", subject, owner, about), now)


def _is_before(session: Session, shown: bytes) -> bool:
    return session.previous_hash is not None and _is_same(session.previous_hash, shown)


def _replace(
    connection: Connection, session: Session, shown: bytes, new: bytes, moment: datetime
) -> None:
    """Replace a refresh token; the one that was shown stays good beside the new one, until that is
    shown."""
    repository.change(
        connection,
        session.session_id,
        refresh_hash=new,
        previous_hash=shown,
        refreshed_at=moment,
    )


def entry(action: str, user: User, session_id: UUID, **more: object) -> Entry:
    subject = actor_of(user.domain, user.name)
    return Entry(
        subject, action, subject, user.domain, {"session": mark_of_session(session_id)} | more
    )


def mark_of_session(session_id: UUID) -> str:
    """Return what a session is called where many read: with its id, and a key that has leaked,
    somebody could make tokens of it."""
    return sha256(session_id.bytes).hexdigest()[:16]


def _token(session_id: UUID, family: str, secret: str) -> str:
    return f"{session_id.hex}.{family}.{secret}"


def _parse(token: str) -> tuple[UUID, str, bytes]:
    session, _, rest = token.partition(".")
    family, _, secret = rest.partition(".")
    try:
        return UUID(hex=session), family, _digest(secret)
    except ValueError:
        raise NotSignedIn() from None


def _digest(secret: str) -> bytes:
    return sha256(secret.encode(errors="replace")).digest()


def _is_same(kept: bytes, shown: bytes) -> bool:
    return hmac.compare_digest(kept, shown)
