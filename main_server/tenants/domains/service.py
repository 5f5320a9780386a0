"""Adding, changing, disabling domains; each is in the audit log.

Nothing that was accepted is lost by any of it: a queue that a domain has left is served on, and so
are those of disabled domains. The edge hears of a change with its next bundle, within a second or
two.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import FieldError, Invalid, NameTaken, NotFound
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, is_domain
from gatepost.wire.domains import DomainSettings
from gatepost.zones import zone_names
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.reasons import demanded_words
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.domains import repository
from main_server.tenants.domains.repository import Domain
from main_server.tenants.names import check_names
from main_server.tenants.pauses import service as pauses
from main_server.tenants.policy import RETENTION_DAYS

UNDELIVERED = range(1, 100_000_001)

_PREFIX = re.compile(r"\A[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?\Z")
_SUFFIX = ":messages"
"""The end of the name of each queue that is a domain's own: Redis's users may touch no others."""
_NONE = "There is no such domain."


@dataclass(frozen=True, slots=True)
class Seen:
    """A domain, and what hangs on it."""

    domain: Domain
    former_queues: list[str]
    clients: int
    people: int


def create(
    engine: Engine, name: str, wanted: DomainSettings, now: datetime, actor: str = SYSTEM
) -> Domain:
    """Add a domain; raise NameTaken if there was one of its name: a name is never used again."""
    check_names(name)
    queue, moment = _check(wanted), from_ms(to_ms(now))
    most, days, zone = wanted.max_undelivered, wanted.retention_days, wanted.time_zone
    domain = Domain(name, queue, most, days, moment, None, zone)

    def work(connection: Connection) -> Domain:
        repository.lock(connection)
        found = repository.find(connection, name)
        if found == domain:
            return domain  # an earlier try was committed after all
        if found is not None or name == INFRASTRUCTURE_DOMAIN:
            raise NameTaken("There is a domain of this name.")
        _check_free(connection, queue, name)
        repository.add(connection, domain)
        _note(connection, actor, "domain.created", name, _told(domain), now)
        return domain

    return transact(engine, work)


def change(
    engine: Engine,
    name: str,
    wanted: DomainSettings,
    now: datetime,
    actor: str = SYSTEM,
    *,
    shared: str,
) -> Domain:
    """Set all that can be set as `wanted` says. What waits in a queue that is left is delivered,
    unless it is paused: then the new one is as well. `shared` is the one that domains share."""
    queue = _check(wanted)

    def work(connection: Connection, before: Domain) -> None:
        after = replace(
            before,
            queue=queue,
            max_undelivered=wanted.max_undelivered,
            retention_days=wanted.retention_days,
            time_zone=wanted.time_zone,
        )
        if after == before:
            return
        if queue != before.queue:
            _keep_pause(connection, before, queue, shared, actor, now)
            _move(connection, before, queue, now)
        if after.retention_days != before.retention_days:
            holds.own(connection)  # what goes by the days of before has gone when this is answered
        repository.change(connection, name, **_told(after))
        was = {f"{field}_before": value for field, value in _told(before).items()}
        _note(connection, actor, "domain.changed", name, _told(after) | was, now)

    return _change(engine, name, work)


def disable(engine: Engine, name: str, reason: str, now: datetime, actor: str = SYSTEM) -> Domain:
    """Disable a domain: its clients are refused from the next bundle on, its people and
    administrators at once."""
    words = demanded_words(reason)

    def work(connection: Connection, before: Domain) -> None:
        if before.disabled_at is None:
            repository.change(connection, name, disabled_at=from_ms(to_ms(now)))
            repository.end_sessions(connection, name)
            _note(connection, actor, "domain.disabled", name, {"reason": words}, now)

    return _change(engine, name, work)


def enable(engine: Engine, name: str, now: datetime, actor: str = SYSTEM) -> Domain:
    """Enable a domain: its clients go on with their certificates; its people sign in anew."""

    def work(connection: Connection, before: Domain) -> None:
        if before.disabled_at is not None:
            repository.change(connection, name, disabled_at=None)
            _note(connection, actor, "domain.enabled", name, {}, now)

    return _change(engine, name, work)


def list_all(engine: Engine) -> list[Seen]:
    def work(connection: Connection) -> list[Seen]:
        clients, people = (
            repository.count_clients(connection),
            repository.count_people(connection),
        )
        former = repository.list_former_queues(connection)
        return [
            Seen(
                one,
                [queue for queue, domain in former if domain == one.domain],
                clients.get(one.domain, 0),
                people.get(one.domain, 0),
            )
            for one in repository.list_domains(connection)
        ]

    return transact(engine, work)


def show(engine: Engine, name: str) -> Seen:
    """Return a domain, and what hangs on it; raise NotFound if there is none."""
    for one in list_all(engine):
        if one.domain.domain == name:
            return one
    raise NotFound(_NONE)


def check(name: str, wanted: DomainSettings) -> None:
    """Check what is to be set for a domain; raise Invalid with all that is wrong."""
    check_names(name)
    _check(wanted)


def settings_of(domain: Domain) -> DomainSettings:
    return DomainSettings(
        queue_prefix=prefix_of(domain.queue),
        max_undelivered=domain.max_undelivered,
        retention_days=domain.retention_days,
        time_zone=domain.time_zone,
    )


def prefix_of(queue: str | None) -> str | None:
    return None if queue is None else queue.removesuffix(_SUFFIX)


def _change(engine: Engine, name: str, work: Callable[[Connection, Domain], None]) -> Domain:
    """Change a domain, and return it as it is afterwards."""

    def run(connection: Connection) -> Domain:
        repository.lock(connection)
        found = repository.find(connection, name) if is_domain(name) else None
        if found is None:
            raise NotFound(_NONE)
        work(connection, found)
        changed = repository.find(connection, name)
        assert changed is not None
        return changed

    return transact(engine, run)


def _keep_pause(
    connection: Connection,
    domain: Domain,
    queue: str | None,
    shared: str,
    actor: str,
    now: datetime,
) -> None:
    """Keep the pause of a queue that a domain leaves; raise Invalid where it would fall on the
    shared one: others' messages can't be paused with it."""
    left = domain.queue or shared
    if queue is not None:
        pauses.take_along(connection, domain.domain, left, queue, actor, now)
    elif pauses.is_paused(connection, left) and not pauses.is_paused(connection, shared):
        words = f"the queue {left} is paused and {shared}, which others share, is not: resume it"
        raise Invalid(errors=[FieldError("/queue_prefix", words)])


def _move(connection: Connection, domain: Domain, queue: str | None, now: datetime) -> None:
    """Move a domain to another queue. The one that is left is served on: messages wait in it, and
    some come late."""
    if queue is not None:
        _check_free(connection, queue, domain.domain)
        repository.come_back_to_queue(connection, queue)
    if domain.queue is not None:
        repository.leave_queue(connection, domain.domain, domain.queue, from_ms(to_ms(now)))


def _check(wanted: DomainSettings) -> str | None:
    """Return the queue that is meant; raise Invalid with all that is wrong."""
    wrong = []
    prefix, days = wanted.queue_prefix, wanted.retention_days
    if prefix is not None and not _PREFIX.match(prefix):
        words = "is lower-case letters, digits, '.', '_' and '-', 128 of them at most"
        wrong.append(FieldError("/queue_prefix", words))
    if wanted.max_undelivered not in UNDELIVERED:
        words = f"is between {UNDELIVERED[0]} and {UNDELIVERED[-1]}"
        wrong.append(FieldError("/max_undelivered", words))
    if days is not None and days not in RETENTION_DAYS:
        words = f"is between {RETENTION_DAYS[0]} and {RETENTION_DAYS[-1]}"
        wrong.append(FieldError("/retention_days", words))
    if wanted.time_zone is not None and wanted.time_zone not in zone_names():
        wrong.append(FieldError("/time_zone", "is a place of the list, as Europe/Berlin"))
    if wrong:
        raise Invalid(errors=wrong)
    return None if prefix is None else f"{prefix}{_SUFFIX}"


def _check_free(connection: Connection, queue: str | None, domain: str) -> None:
    if queue is not None and repository.is_queue_anothers(connection, queue, domain):
        words = "is another domain's, or was: choose another one"
        raise Invalid(errors=[FieldError("/queue_prefix", words)])


def _told(domain: Domain) -> dict[str, Any]:
    return {
        "queue": domain.queue,
        "max_undelivered": domain.max_undelivered,
        "retention_days": domain.retention_days,
        "time_zone": domain.time_zone,
    }


def _note(
    connection: Connection,
    actor: str,
    action: str,
    domain: str,
    details: dict[str, Any],
    now: datetime,
) -> None:
    audit.append(connection, Entry(actor, action, domain, domain, details), now)
