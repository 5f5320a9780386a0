"""SQL for legal holds, and for the days of clients and of the lake.

One row is shared by each transaction that deletes, and owned by each that sets a hold: so nothing
that is held is deleted by a transaction that didn't know of it yet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, or_, select, update
from sqlalchemy.dialects.mysql import insert as upsert

from main_server.store.tables import clients, domains, legal_holds, retention_state
from main_server.tenants.policy import Policies

LAKE_DAYS, REPORT_DAYS = 400, 1_830
_h, _s = legal_holds.c, retention_state.c


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold on a domain, or on one client of it. `set_for_all`: by somebody who looks after all
    domains."""

    hold_id: bytes
    domain: str
    client_id: str | None
    reason: str
    set_by: str
    set_for_all: bool
    set_at: datetime
    lifted_by: str | None = None
    lifted_reason: str | None = None
    lifted_at: datetime | None = None


_COLUMNS = [_h[name] for name in Hold.__slots__]


def share(connection: Connection) -> None:
    """Share the row: until this transaction ends nobody sets a hold, or changes for how long
    anything is kept."""
    query = select(_s.one).where(_s.one == 1)
    if connection.execute(query.with_for_update(read=True)).first() is None:
        own(connection)


def own(connection: Connection) -> None:
    """Own the row: wait for all who delete."""
    row = {"one": 1, "lake_days": LAKE_DAYS, "report_days": REPORT_DAYS}
    statement = upsert(retention_state).values(row)
    connection.execute(statement.on_duplicate_key_update(one=1))
    connection.execute(select(_s.one).where(_s.one == 1).with_for_update())


def read_policies(connection: Connection) -> Policies:
    of_domains = select(domains.c.domain, domains.c.retention_days).where(
        domains.c.retention_days.is_not(None)
    )
    of_clients = select(clients.c.client_id, clients.c.retention_days).where(
        clients.c.retention_days.is_not(None)
    )
    held = select(_h.domain, _h.client_id).where(_h.lifted_at.is_(None))
    return Policies(
        {row[0]: row[1] for row in connection.execute(of_domains)},
        {row[0]: row[1] for row in connection.execute(of_clients)},
        *_whose(connection.execute(held)),
    )


def held_at(connection: Connection, days: Policies, moment: datetime) -> Policies:
    """Return the same days, with the holds that were on at that moment."""
    on = (_h.set_at <= moment, or_(_h.lifted_at.is_(None), _h.lifted_at > moment))
    held = connection.execute(select(_h.domain, _h.client_id).where(*on))
    return Policies(days.domains, days.clients, *_whose(held))


def list_holds(
    connection: Connection, domain: str | None = None, client_id: str | None = None
) -> list[Hold]:
    """List the holds that are on; for a client, those of its domain among them."""
    query = select(*_COLUMNS).where(_h.lifted_at.is_(None))
    if domain is not None:
        query = query.where(
            _h.domain == domain, or_(_h.client_id.is_(None), _h.client_id == client_id)
        )
    return [_hold(row) for row in connection.execute(query.order_by(_h.set_at, _h.hold_id))]


def find_hold(connection: Connection, hold_id: bytes) -> Hold | None:
    row = connection.execute(select(*_COLUMNS).where(_h.hold_id == hold_id)).one_or_none()
    return _hold(row) if row else None


def add_hold(connection: Connection, hold: Hold) -> None:
    values = {name: getattr(hold, name) for name in Hold.__slots__}
    connection.execute(insert(legal_holds).values(values))


def lift_hold(connection: Connection, hold_id: bytes, by: str, reason: str, now: datetime) -> None:
    statement = update(legal_holds).where(_h.hold_id == hold_id)
    connection.execute(statement.values(lifted_by=by, lifted_reason=reason, lifted_at=now))


def set_client_days(connection: Connection, client_id: str, days: int | None) -> None:
    statement = update(clients).where(clients.c.client_id == client_id)
    connection.execute(statement.values(retention_days=days))


def lake_days(connection: Connection) -> tuple[int, int]:
    """Return for how many days the lake has its messages, and reports their numbers."""
    row = connection.execute(select(_s.lake_days, _s.report_days)).one_or_none()
    return (row[0], row[1]) if row else (LAKE_DAYS, REPORT_DAYS)


def set_lake_days(connection: Connection, lake: int, reports: int) -> None:
    connection.execute(update(retention_state).values(lake_days=lake, report_days=reports))


def _whose(held: Iterable[Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the domains that are held whole, and single clients."""
    found = [(row[0], row[1]) for row in held]
    domains = frozenset(domain for domain, client_id in found if client_id is None)
    return domains, frozenset(client_id for _, client_id in found if client_id is not None)


def _hold(row: Any) -> Hold:
    said = dict(zip(Hold.__slots__, row, strict=True))
    return Hold(**(said | {"set_for_all": bool(said["set_for_all"])}))
