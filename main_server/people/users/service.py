"""Create, change and disable people; each of it is in the audit log.

Whoever is disabled, and whoever's password or role changes, is signed out everywhere at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.errors import Invalid, NameTaken, NotFound, NotSignedIn
from gatepost.ids import MessageIds
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN
from gatepost.wire.people import UserRole
from gatepost.zones import zone_names
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.audit.names import actor_of
from main_server.people import authenticator_repository as authenticators
from main_server.people.users import repository
from main_server.people.users.endings import end_sessions
from main_server.people.users.repository import User
from main_server.store.database import transact
from main_server.tenants.clients import repository as clients
from main_server.tenants.domains.repository import find_time_zone, has_domain

BREAK_GLASS = timedelta(days=1)
"""The time for which somebody who came in by breaking the glass is asked for no second step."""
_ids = MessageIds(Clock())


@dataclass(frozen=True, slots=True)
class NewUser:
    domain: str
    name: str
    role: UserRole = UserRole.USER
    client_ids: frozenset[str] = field(default_factory=frozenset)
    break_glass_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights that somebody is to have; None leaves one as before."""

    role: UserRole | None = None
    client_ids: frozenset[str] | None = None


def create(engine: Engine, wanted: NewUser, now: datetime, actor: str) -> User:
    """Create somebody, who has no password yet. Raise NameTaken if the name was ever somebody's: a
    name is never used again."""
    moment = from_ms(to_ms(now))
    user_id = _ids.new().bytes
    user = User(
        user_id,
        wanted.domain,
        wanted.name,
        wanted.role,
        None,
        0,
        moment,
        None,
        None,
        break_glass_until=wanted.break_glass_until,
    )

    def work(connection: Connection) -> User:
        _check(connection, wanted)
        found = repository.find(connection, wanted.domain, wanted.name)
        if found is not None and found.user_id == user_id:
            return user  # an earlier try was committed after all
        if found is not None:
            raise NameTaken("There is somebody of this name, or there was.")
        repository.add(connection, user, wanted.client_ids)
        details = {"role": user.role, "client_ids": sorted(wanted.client_ids)}
        audit.append(connection, _entry(actor, "user.created", user, **details), now)
        return user

    return transact(engine, work)


def break_glass(engine: Engine, now: datetime, actor: str) -> User:
    """Create a super-administrator for when nobody else can get in; it is said loudly in the audit
    log, and again whenever they sign in. For a day nobody asks them for a second step."""
    name, until = f"break-glass-{now:%Y%m%d-%H%M%S}", from_ms(to_ms(now + BREAK_GLASS))
    whole = NewUser(INFRASTRUCTURE_DOMAIN, name, UserRole.SUPER_ADMIN, break_glass_until=until)
    user = create(engine, whole, now, actor)
    entry = _entry(actor, "user.break_glass", user)
    transact(engine, lambda connection: audit.append(connection, entry, now))
    return user


def change_rights(engine: Engine, user: User, wanted: Rights, now: datetime, actor: str) -> None:
    """Change what somebody may. Another role ends all sessions: what a page was made for would not
    be theirs any more."""

    def work(connection: Connection, user: User) -> dict[str, object]:
        had = repository.list_client_ids(connection, user.user_id)
        role = user.role if wanted.role is None else wanted.role
        client_ids = had if wanted.client_ids is None else wanted.client_ids
        _check(connection, NewUser(user.domain, user.name, role, client_ids))
        repository.put_clients(connection, user.user_id, client_ids)
        ended: dict[str, object] = {}
        if role is not user.role:
            repository.change(connection, user.user_id, role=role)
            ended = end_sessions(connection, user, now)
        if role is UserRole.USER:
            ended |= _stop_redrives(connection, user, now)
        before = {"role": user.role, "client_ids": sorted(had)}
        return {"before": before, "role": role, "client_ids": sorted(client_ids)} | ended

    _change(engine, user, "user.rights_changed", work, now, actor)


def reset_second_step(engine: Engine, user: User, now: datetime, actor: str) -> None:
    """Remove the second step of somebody who has lost phone and recovery codes: they are signed out
    everywhere, and asked for no code."""

    def work(connection: Connection, user: User) -> dict[str, object]:
        authenticators.remove(connection, user.user_id)
        return end_sessions(connection, user, now)

    _change(engine, user, "user.second_step_reset", work, now, actor)


def disable(engine: Engine, user: User, now: datetime, actor: str) -> None:
    """Disable somebody, and stop the redrives that go on in their name. Raise Invalid for the last
    super-administrator: there would be nobody to enable them."""

    def work(connection: Connection, user: User) -> dict[str, object]:
        if repository.lock_active(connection, UserRole.SUPER_ADMIN) == {user.user_id}:
            raise Invalid("This is the last super-administrator. Add another one before.")
        moment = user.disabled_at or from_ms(to_ms(now))
        repository.change(connection, user.user_id, disabled_at=moment)
        return end_sessions(connection, user, now) | _stop_redrives(connection, user, now)

    _change(engine, user, "user.disabled", work, now, actor)


def enable(engine: Engine, user: User, now: datetime, actor: str) -> None:
    def work(connection: Connection, user: User) -> None:
        repository.change(connection, user.user_id, disabled_at=None)

    _change(engine, user, "user.enabled", work, now, actor)


def set_password(engine: Engine, user: User, password_hash: str, now: datetime, actor: str) -> None:
    """Set a password. `user` is the person as they were when their present password was looked at.
    Raise NotSignedIn if since then they were signed out, disabled or given another password: that
    counts."""

    def work(connection: Connection, found: User) -> dict[str, object]:
        if found.password_hash == password_hash:
            return {}  # an earlier try was committed after all
        if not is_still(found, user):
            raise NotSignedIn("This session is over. Sign in again.")
        repository.change(connection, user.user_id, password_hash=password_hash)
        return end_sessions(connection, user, now)

    _change(engine, user, "user.password_set", work, now, actor)


def is_still(user: User, before: User) -> bool:
    """Tell whether a person is still as they were `before`, when their password was looked at."""
    same = (user.password_hash, user.generation) == (before.password_hash, before.generation)
    return same and user.disabled_at is None


def set_time_zone(engine: Engine, user: User, time_zone: str | None) -> str | None:
    """Set the time zone in which somebody reads times, None for that of their domain; return the
    one that counts from now on. It is of no concern to anybody else, so the audit log hasn't it."""
    if time_zone is not None and time_zone not in zone_names():
        raise Invalid("There is no such time zone. Choose one of the list, as Europe/Berlin.")

    def work(connection: Connection) -> str | None:
        repository.change(connection, user.user_id, time_zone=time_zone)
        return time_zone or find_time_zone(connection, user.domain)

    return transact(engine, work)


def sign_out(engine: Engine, user: User, now: datetime, actor: str) -> None:
    """End all sessions of a person."""

    def work(connection: Connection, user: User) -> dict[str, object]:
        return end_sessions(connection, user, now)

    _change(engine, user, "user.signed_out", work, now, actor)


def find(engine: Engine, domain: str, name: str) -> User:
    found = transact(engine, lambda connection: repository.find(connection, domain, name))
    if found is None:
        raise NotFound("There is nobody of this name.")
    return found


def _stop_redrives(connection: Connection, user: User, now: datetime) -> dict[str, object]:
    """Stop a person's redrives; return how many there were, for the audit log. Another
    administrator begins them anew."""
    actor, moment = actor_of(user.domain, user.name), from_ms(to_ms(now))
    stopped = repository.stop_redrives_of(connection, actor, moment)
    return {"redrives_stopped": stopped} if stopped else {}


def _check(connection: Connection, wanted: NewUser) -> None:
    ours = wanted.domain == INFRASTRUCTURE_DOMAIN
    if not ours and not has_domain(connection, wanted.domain):
        raise NotFound("There is no such domain.")
    if (wanted.role is UserRole.SUPER_ADMIN) != ours:
        words = "Super-administrators, and they alone, are of the domain"
        raise Invalid(f"{words} {INFRASTRUCTURE_DOMAIN}.")
    for client_id in sorted(wanted.client_ids):
        client = clients.find(connection, client_id) if client_id.isascii() else None
        if client is None or client.domain != wanted.domain:
            raise NotFound("There is no such client in this person's domain.")


def _change(
    engine: Engine,
    user: User,
    action: str,
    change: Callable[[Connection, User], Mapping[str, object] | None],
    now: datetime,
    actor: str,
) -> None:
    """Change a person; what `change` returns is said in the audit log."""

    def work(connection: Connection) -> None:
        found = repository.get(connection, user.user_id, lock=True)
        if found is None:
            raise NotFound("There is nobody of this name.")
        details = change(connection, found) or {}
        audit.append(connection, _entry(actor, action, found, **details), now)

    transact(engine, work)


def _entry(actor: str, action: str, user: User, **details: object) -> Entry:
    return Entry(actor, action, actor_of(user.domain, user.name), user.domain, details)
