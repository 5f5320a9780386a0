"""Set up an authenticator, take its codes and recovery codes, and remove it again.

A code is good once. The row of the authenticator is locked while one is looked at: if two come side
by side with the same code, one is refused. Whatever is wrong with a code is said in the same words,
and counted by the same back-off as passwords are, and beyond it (`guesses`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import TypeVar

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import Invalid, NotSignedIn, TooManyTries, WrongCode
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.audit.names import actor_of
from main_server.keys.service import Keyring
from main_server.people import authenticator_repository as repository
from main_server.people.authenticator_repository import Authenticator
from main_server.people.second_step import codes, guesses
from main_server.people.sessions import proof
from main_server.people.sessions import repository as sessions
from main_server.people.sessions import service as signing_in
from main_server.people.sessions.repository import Session
from main_server.people.sessions.service import Opened
from main_server.people.users.repository import User
from main_server.store.database import transact

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Given:
    """A code that was given: by whom, in which session, and where their browser is."""

    user: User
    session: Session
    typed: str
    address: str


def begin(engine: Engine, keyring: Keyring, user: User, now: datetime) -> bytes:
    """Make a new secret, which counts once a first code of it was given."""
    secret, moment = codes.new_secret(), from_ms(to_ms(now))
    kid, sealed = keyring.seal_totp(user.user_id, secret)

    def work(connection: Connection) -> None:
        found = repository.find(connection, user.user_id, lock=True)
        if found is not None and found.confirmed_at is not None:
            raise Invalid("You have an authenticator. Give a code to do without it, then set up.")
        repository.put(connection, Authenticator(user.user_id, kid, sealed, 0, moment, None))

    transact(engine, work)
    return secret


def pending_secret(engine: Engine, keyring: Keyring, user: User) -> bytes | None:
    """Return the secret that is being set up; once it is confirmed nobody sees it again."""
    found = transact(engine, lambda connection: repository.find(connection, user.user_id))
    if found is None or found.confirmed_at is not None:
        return None
    return keyring.open_totp(user.user_id, found.kid, found.sealed)


def confirm(engine: Engine, keyring: Keyring, given: Given, now: datetime) -> list[str]:
    """Confirm the authenticator, and return the recovery codes. From now on a code is wanted of the
    person, in their other sessions too."""
    made, moment = codes.new_recovery_codes(), from_ms(to_ms(now))

    def work(connection: Connection, _how: str) -> list[str]:
        user_id = given.user.user_id
        repository.confirm(connection, user_id, moment)
        _put_recovery_codes(connection, user_id, made)
        sessions.change(connection, given.session.session_id, second_step_at=moment)
        _note(connection, given.user, "second_step.set_up", now)
        return made

    return _with_code(engine, keyring, given, now, work, pending=True)


def complete(engine: Engine, keyring: Keyring, given: Given, now: datetime) -> Opened:
    """End the session that the password began, and begin another one, which is whole."""
    new = signing_in.new_session()

    def work(connection: Connection, how: str) -> Opened:
        ended_at = from_ms(to_ms(now))
        sessions.change(connection, given.session.session_id, ended_at=ended_at)
        signing_in.begin(connection, new, given.user, now, how)
        return signing_in.opened_of(connection, new, given.user)

    return _with_code(engine, keyring, given, now, work)


def remake(engine: Engine, keyring: Keyring, given: Given, now: datetime) -> list[str]:
    """Make other recovery codes; those from before are good for nothing."""
    made = codes.new_recovery_codes()

    def work(connection: Connection, _how: str) -> list[str]:
        _put_recovery_codes(connection, given.user.user_id, made)
        _note(connection, given.user, "second_step.codes_remade", now)
        return made

    return _with_code(engine, keyring, given, now, work)


def prove(engine: Engine, keyring: Keyring, given: Given, now: datetime) -> None:
    """Prove that it is still the same person, in a session that is whole already."""

    def work(connection: Connection, how: str) -> None:
        proof.prove(connection, given.session, given.user, now, how)

    _with_code(engine, keyring, given, now, work)


def turn_off(engine: Engine, keyring: Keyring, given: Given, now: datetime) -> None:
    """Remove the authenticator, to do without or to set up another one: whoever administers must do
    so next."""

    def work(connection: Connection, _how: str) -> None:
        repository.remove(connection, given.user.user_id)
        sessions.change(connection, given.session.session_id, second_step_at=None)
        _note(connection, given.user, "second_step.turned_off", now)

    _with_code(engine, keyring, given, now, work)


def _with_code(
    engine: Engine,
    keyring: Keyring,
    given: Given,
    now: datetime,
    then: Callable[[Connection, str], T],
    *,
    pending: bool = False,
) -> T:
    """Return what `then` returns in the transaction that has used the code up. Raise WrongCode if
    the code doesn't count.

    Where the answer of a commit was lost, the code was used by ourselves and is refused all the
    same: nothing is harmed by it, and the next code is only half a minute away.
    """
    user = given.user
    there = transact(engine, lambda connection: repository.find(connection, user.user_id))
    if there is None or (there.confirmed_at is None) != pending:
        raise WrongCode()
    secret = keyring.open_totp(user.user_id, there.kid, there.sealed)
    tried = signing_in.begin_try(
        engine, user.domain, user.name, given.address, now, counted=counted_as(user)
    )

    def work(connection: Connection) -> tuple[T] | None:
        found = sessions.find(connection, given.session.session_id, lock=True)
        if found is None or not signing_in.is_alive(*found, from_ms(to_ms(now))):
            raise NotSignedIn("This session is over. Sign in again.")
        how = _use(connection, there, secret, given.typed, now)
        if how is None:
            _note(connection, user, "second_step.refused", now)
            return None
        sessions.take_back_try(connection, tried.here, tried.others)
        return (then(connection, how),)

    done = transact(engine, work)
    if done is None:
        raise WrongCode()
    return done[0]


def counted_as(user: User) -> str:
    """Return what a person's codes are counted as. They have tries of their own: whoever knows the
    password and guesses at codes gets no new ones by it, and whoever doesn't know it holds nobody
    up here, for they can't know this either."""
    return f"codes of {user.user_id.hex()}"


def _use(
    connection: Connection, there: Authenticator, secret: bytes, typed: str, now: datetime
) -> str | None:
    """Use a code up, and return what kind it was; None if it doesn't count. Raise TooManyTries if
    too many wrong ones were given."""
    locked = repository.find(connection, there.user_id, lock=True)
    if locked is None or (locked.sealed, locked.confirmed_at) != (there.sealed, there.confirmed_at):
        return None
    digest, moment = codes.recovery_digest(there.user_id, typed), from_ms(to_ms(now))
    if repository.use_recovery_code(connection, there.user_id, digest, moment):
        return "recovery code"
    if wait := guesses.wait_before(locked.wrong, locked.wrong_at, moment).total_seconds():
        raise TooManyTries(retry_after=ceil(wait))
    step = codes.matching_step(secret, typed, now, locked.last_step)
    if step is not None:
        repository.use(connection, there.user_id, step)
        return "authenticator"
    wrong = guesses.still_counted(locked.wrong, locked.wrong_at, moment) + 1
    repository.count_wrong(connection, there.user_id, wrong, moment)
    return None


def _put_recovery_codes(connection: Connection, user_id: bytes, made: list[str]) -> None:
    digests = [codes.recovery_digest(user_id, one) for one in made]
    repository.put_recovery_codes(connection, user_id, digests)


def _note(connection: Connection, user: User, action: str, now: datetime) -> None:
    subject = actor_of(user.domain, user.name)
    audit.append(connection, Entry(subject, action, subject, user.domain), now)
