"""Prove that it is still its own person who works in a session: they show it once more before what
can't be taken back, or lets somebody in.

A session may be stolen; with it alone nobody makes themselves a second way in. Whoever has an
authenticator gives a code of it, everybody else their password. Signing in counts, too.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import CodeWanted, GatepostError, NotSignedIn, PasswordWanted
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.people.sessions import repository
from main_server.people.sessions.repository import Session
from main_server.people.sessions.service import Try, entry, is_alive
from main_server.people.users.repository import User
from main_server.store.database import transact

FRESH = timedelta(minutes=10)


def proof_wanted(
    proved_at: datetime | None, moment: datetime, *, by_code: bool
) -> type[GatepostError] | None:
    """Return what they have to show at this moment; None while they have shown it a few minutes ago
    at most."""
    if proved_at is not None and moment - proved_at < FRESH:
        return None
    return CodeWanted if by_code else PasswordWanted


def prove(connection: Connection, session: Session, user: User, now: datetime, how: str) -> None:
    repository.change(connection, session.session_id, proved_at=from_ms(to_ms(now)))
    audit.append(connection, _entry("session.proved", session, user, by=how), now)


def prove_by_password(
    engine: Engine, tried: Try, session: Session, user: User, now: datetime
) -> None:
    """Prove it by the right password, which was looked at before. Raise NotSignedIn if something
    that ends sessions, such as another password, has ended this one since then."""

    def work(connection: Connection) -> None:
        found = repository.find(connection, session.session_id, lock=True)
        if found is None or not is_alive(*found, from_ms(to_ms(now))):
            raise NotSignedIn("This session is over. Sign in again.")
        repository.take_back_try(connection, tried.here, tried.others)
        prove(connection, session, user, now, "password")

    transact(engine, work)


def note_refused(engine: Engine, session: Session, user: User, now: datetime) -> None:
    refused = _entry("session.password_refused", session, user)
    transact(engine, lambda connection: audit.append(connection, refused, now))


def _entry(action: str, session: Session, user: User, **more: object) -> Entry:
    return entry(action, user, UUID(bytes=session.session_id), **more)
