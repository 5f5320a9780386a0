"""Set and lift legal holds, and set how long a client's messages are kept; all of it goes into the
audit log, with the reason.

A hold counts from the moment that it is set: it waits for what is being deleted just then, and what
is gone stays gone. An administrator of one domain can hold it, and lift holds set by its own
administrators; only an administrator of all domains says how long messages are kept.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import AnotherNeeded, FieldError, Invalid, NotFound
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.reasons import demanded_words
from main_server.store.database import transact
from main_server.tenants import hold_repository as repository
from main_server.tenants.clients import repository as clients
from main_server.tenants.domains import repository as domains
from main_server.tenants.hold_repository import Hold
from main_server.tenants.policy import check_days

NO_HOLD = "There is no such hold, or it was lifted before."
_LAKE_DAYS = range(30, 32_768)


@dataclass(frozen=True, slots=True)
class Asker:
    """The person that the audit log names, and the one domain that they look after; None for
    all."""

    actor: str
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A domain, or one client of it."""

    domain: str
    client_id: str | None = None

    @property
    def name(self) -> str:
        return self.client_id or self.domain


@dataclass(frozen=True, slots=True)
class Kept:
    """The time for which a subject's messages are kept, and what keeps them for longer."""

    subject: Subject
    days: int
    own_days: int | None
    domain_days: int
    holds: list[Hold]


def show(engine: Engine, subject: Subject) -> Kept:
    """Return how long a subject's messages are kept; raise NotFound if there is no such subject."""

    def work(connection: Connection) -> Kept:
        _demand_there(connection, subject)
        policies = repository.read_policies(connection)
        holds = repository.list_holds(connection, subject.domain, subject.client_id)
        of_domain = policies.days_in(subject.domain)
        own = policies.domains.get(subject.domain)
        if subject.client_id is None:
            return Kept(subject, of_domain, own, of_domain, holds)
        own = policies.clients.get(subject.client_id)
        return Kept(subject, policies.days_of(subject.client_id), own, of_domain, holds)

    return transact(engine, work)


def set_hold(
    engine: Engine, asker: Asker, subject: Subject, reason: str, hold_id: UUID, now: datetime
) -> Hold:
    """Set a hold. `hold_id` is new: with the same one again, as after a lost answer, nothing is
    done twice."""
    words, moment = demanded_words(reason), from_ms(to_ms(now))

    def work(connection: Connection) -> Hold:
        repository.own(connection)
        if before := repository.find_hold(connection, hold_id.bytes):
            return before
        _demand_there(connection, subject)
        hold = Hold(
            hold_id.bytes,
            subject.domain,
            subject.client_id,
            words,
            asker.actor,
            asker.domain is None,
            moment,
        )
        repository.add_hold(connection, hold)
        _note(connection, asker, "hold.set", subject, {"hold": str(hold_id), "reason": words}, now)
        return hold

    return transact(engine, work)


def lift_hold(engine: Engine, asker: Asker, hold_id: UUID, reason: str, now: datetime) -> Hold:
    """Lift a hold; raise NotFound for another domain's, too (I12)."""
    words = demanded_words(reason)

    def work(connection: Connection) -> Hold:
        repository.own(connection)
        hold = repository.find_hold(connection, hold_id.bytes)
        if hold is None or hold.lifted_at is not None or asker.domain not in (None, hold.domain):
            raise NotFound(NO_HOLD)
        if hold.set_for_all and asker.domain is not None:
            raise AnotherNeeded("Who looks after all domains has set it, and can lift it.")
        repository.lift_hold(connection, hold.hold_id, asker.actor, words, from_ms(to_ms(now)))
        subject = Subject(hold.domain, hold.client_id)
        details = {"hold": str(hold_id), "reason": words, "was": hold.reason}
        _note(connection, asker, "hold.lifted", subject, details, now)
        return hold

    return transact(engine, work)


def set_days(
    engine: Engine, asker: Asker, subject: Subject, days: int | None, now: datetime
) -> None:
    """Set a client's own days; None means as long as its domain's. A domain's days are among its
    settings."""
    check_days(days)
    client_id = subject.client_id
    assert client_id is not None

    def work(connection: Connection) -> None:
        repository.own(connection)
        _demand_there(connection, subject)
        before = repository.read_policies(connection).clients.get(client_id)
        if before == days:
            return
        repository.set_client_days(connection, client_id, days)
        details = {"retention_days": days, "retention_days_before": before}
        _note(connection, asker, "retention.changed", subject, details, now)

    transact(engine, work)


def set_lake_days(engine: Engine, asker: Asker, lake: int, reports: int, now: datetime) -> None:
    """Set the lake's own days: at least as many as the longest that the ledger keeps anything."""
    wrong = [
        FieldError(f"/{name}", f"is between {_LAKE_DAYS[0]} and {_LAKE_DAYS[-1]}")
        for name, days in (("lake_days", lake), ("report_days", reports))
        if days not in _LAKE_DAYS
    ]
    if reports < lake:
        wrong.append(FieldError("/report_days", "is not less than lake_days"))
    if wrong:
        raise Invalid(errors=wrong)

    def work(connection: Connection) -> None:
        repository.own(connection)
        before = repository.lake_days(connection)
        if before == (lake, reports):
            return
        repository.set_lake_days(connection, lake, reports)
        details = {"lake_days": lake, "report_days": reports, "before": list(before)}
        audit.append(
            connection, Entry(asker.actor, "retention.changed", "lake", None, details), now
        )

    transact(engine, work)


def _demand_there(connection: Connection, subject: Subject) -> None:
    if subject.client_id is not None:
        there: object = clients.find(connection, subject.client_id)
    else:
        there = domains.find(connection, subject.domain)
    if there is None:
        raise NotFound(f"There is no such {'client' if subject.client_id else 'domain'}.")


def _note(
    connection: Connection,
    asker: Asker,
    action: str,
    subject: Subject,
    details: dict[str, Any],
    now: datetime,
) -> None:
    audit.append(connection, Entry(asker.actor, action, subject.name, subject.domain, details), now)
