"""Creating, limiting and disabling clients; each is in the audit log."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import NameTaken, NotFound
from gatepost.trust.identity import Identity, Role
from main_server.audit import repository as audit
from main_server.audit.chain import SYSTEM, Entry
from main_server.store.database import transact
from main_server.tenants.clients import repository
from main_server.tenants.clients.repository import Client
from main_server.tenants.domains.repository import has_domain, is_disabled

RATE_PER_SECOND, BURST = 100, 1_000
NOBODY = "There is no such client."


@dataclass(frozen=True, slots=True)
class Change:
    """The limits and the state that are to be otherwise; None stays as it is."""

    rate_per_second: int | None = None
    burst: int | None = None
    disabled: bool | None = None


def create(
    engine: Engine, identity: Identity, rate: int, burst: int, now: datetime, actor: str = SYSTEM
) -> Client:
    """Add a client; raise NameTaken if there was one of its name: a name is never used again."""

    def work(connection: Connection) -> Client:
        if repository.find(connection, identity.client_id) is not None:
            raise NameTaken()
        return _add(connection, identity, rate, burst, now, actor)

    return transact(engine, work)


def ensure(engine: Engine, identity: Identity, now: datetime, actor: str = SYSTEM) -> Client:
    """Return the client, new with the usual limits if need be. One that is disabled is refused."""

    def work(connection: Connection) -> Client:
        if is_disabled(connection, identity.domain):
            raise NameTaken("This domain is disabled. Enable it first.")
        found = repository.find(connection, identity.client_id)
        if found is None:
            return _add(connection, identity, RATE_PER_SECOND, BURST, now, actor)
        if found.disabled_at is not None:
            raise NameTaken("This client is disabled. Enable it first.")
        return found

    return transact(engine, work)


def change(
    engine: Engine, client_id: str, wanted: Change, now: datetime, actor: str = SYSTEM
) -> Client:
    def work(connection: Connection) -> Client:
        found = repository.find(connection, client_id, lock=True)
        if found is None:
            raise NotFound(NOBODY)
        rate = found.rate_per_second if wanted.rate_per_second is None else wanted.rate_per_second
        burst = found.burst if wanted.burst is None else wanted.burst
        disabled_at = found.disabled_at
        if wanted.disabled is not None:
            disabled_at = (disabled_at or now) if wanted.disabled else None
        repository.change(connection, client_id, rate, burst, disabled_at)
        details = {"rate_per_second": rate, "burst": burst, "disabled": disabled_at is not None}
        entry = Entry(actor, "client.changed", client_id, found.domain, details)
        audit.append(connection, entry, now)
        changed = repository.find(connection, client_id)
        assert changed is not None
        return changed

    return transact(engine, work)


def _add(
    connection: Connection, identity: Identity, rate: int, burst: int, now: datetime, actor: str
) -> Client:
    if identity.role is not Role.CLIENT:
        raise NotFound("Only the role client has clients.")
    if not has_domain(connection, identity.domain):
        raise NotFound(f"There is no domain {identity.domain}.")
    repository.add(connection, identity, rate, burst, from_ms(to_ms(now)))
    details = {"rate_per_second": rate, "burst": burst}
    entry = Entry(actor, "client.created", identity.client_id, identity.domain, details)
    audit.append(connection, entry, now)
    added = repository.find(connection, identity.client_id)
    assert added is not None
    return added
