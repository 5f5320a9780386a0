"""SQL for the overview: the domains with their queues, certificates that expire soon, pauses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Role
from gatepost.wire.bundle import KnownDomain
from main_server.ca.expiry_repository import is_replaced
from main_server.messages.edge.repository import list_domains
from main_server.store.tables import certificates
from main_server.tenants.domains import repository as tenants
from main_server.tenants.pauses.repository import Pause, list_pauses

SOON = timedelta(days=30)
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Expiring:
    domain: str
    role: str
    name: str
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Survey:
    """The domains and what concerns them. Our own domain sends nothing, so it shares no queue with
    anybody. `left` are queues, with their domains, to which nothing more comes, as the domain has
    another queue now or is disabled: what was accepted may still wait there."""

    domains: list[KnownDomain]
    expiring: list[Expiring]
    left: Mapping[str, str] = field(default_factory=dict)
    pauses: Sequence[Pause] = ()


def survey(connection: Connection, now: datetime) -> Survey:
    domains = [one for one in list_domains(connection) if one.name != INFRASTRUCTURE_DOMAIN]
    left, paused = _left(connection), list_pauses(connection)
    return Survey(domains, list_expiring(connection, now), left, paused)


def _left(connection: Connection) -> dict[str, str]:
    disabled = [one for one in tenants.list_domains(connection) if one.disabled_at is not None]
    of_disabled = {one.queue: one.domain for one in disabled if one.queue is not None}
    return of_disabled | dict(tenants.list_former_queues(connection))


def list_expiring(connection: Connection, now: datetime) -> list[Expiring]:
    """Return active certificates that haven't been replaced, the next to expire first."""
    c = certificates.c
    query = (
        select(c.domain, c.role, c.name, c.not_after)
        .where(c.status == "active", c.not_after > now, c.not_after <= now + SOON, ~is_replaced())
        .where(c.role.in_([role.value for role in Role]))
        .order_by(c.not_after, c.domain, c.name)
        .limit(MOST)
    )
    return [Expiring(*row) for row in connection.execute(query)]
