"""SQL for reports for data subjects. Messages are found along the index of MACs, nowhere else: it
says whose they are, too, so that rows are read for what is told of them alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, or_, select, update

from gatepost.trust.identity import Identity
from main_server.store.tables import audit_log, certificates, messages, subject_requests

_MAC_BYTES = 32
_MACS_A_STATEMENT = 500
_r, _m = subject_requests.c, messages.c


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was asked for. `domain` is how far its asker sees; None for every domain."""

    report_id: bytes
    domain: str | None
    asked_by: str
    asked_at: datetime
    expires_at: datetime
    approved_by: str | None
    macs: Sequence[bytes]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A message of somebody's, as the ledger has it."""

    message_id: bytes
    client_id: str
    domain: str
    status: str
    reason: str | None
    created_at: datetime
    delivered_at: datetime | None
    attempt_count: int
    key_id: int | None
    encrypted_body: bytes | None


@dataclass(frozen=True, slots=True)
class Reach:
    """The messages that are looked for: those of these MACs, of one domain or all, before this
    id."""

    macs: Sequence[bytes]
    domain: str | None
    end: bytes

    def parts(self, query: Select[Any]) -> Iterator[Select[Any]]:
        """Yield the query, for so many MACs at a time as a statement may well hold."""
        query = query.with_hint(messages, "FORCE INDEX (ix_messages_sender)")
        query = query.where(_m.message_id < self.end)
        for first in range(0, len(self.macs), _MACS_A_STATEMENT):
            part = self.macs[first : first + _MACS_A_STATEMENT]
            yield query.where(_m.sender_number_hashed.in_(part))


def count(connection: Connection, reach: Reach) -> dict[bytes, int]:
    """Count messages by MAC."""
    mac = _m.sender_number_hashed
    return {
        row[0]: row[1]
        for query in reach.parts(select(mac, func.count()).group_by(mac))
        for row in connection.execute(query)
    }


def list_rows(connection: Connection, reach: Reach, after: bytes, limit: int) -> list[Row]:
    """List messages, the oldest first."""
    query = select(_m.message_id).where(_m.message_id > after)
    parts = [
        connection.execute(part.order_by(_m.message_id).limit(limit)).scalars().all()
        for part in reach.parts(query)
    ]
    rows = select(*(_m[name] for name in Row.__slots__))
    rows = rows.where(_m.message_id.in_(list(islice(merge(*parts), limit))))
    if reach.domain is not None:
        rows = rows.where(_m.domain == reach.domain)
    return [Row(*row) for row in connection.execute(rows.order_by(_m.message_id))]


def list_makers(connection: Connection, holder: Identity, since: datetime) -> set[str]:
    """Return who has made certificates of somebody's that were good at this time, or later."""
    c = certificates.c
    query = select(c.actor).where(
        c.domain == holder.domain,
        c.name == holder.name,
        c.role == holder.role.value,
        c.actor.is_not(None),
        c.status != "intended",
        c.not_after > since,
        or_(c.revoked_at.is_(None), c.revoked_at >= since),
    )
    return set(connection.execute(query).scalars())


def list_link_makers(connection: Connection, person: str, domain: str) -> set[str]:
    """Return who has made links for somebody's password. The audit log knows: what was used is
    forgotten elsewhere."""
    c = audit_log.c
    query = select(c.actor).where(
        c.domain == domain, c.subject == person, c.action == "user.link_made"
    )
    return set(connection.execute(query).scalars())


def add(connection: Connection, report: Report) -> None:
    values = {name: getattr(report, name) for name in Report.__slots__}
    stored = {"macs": b"".join(report.macs), "counts": json.dumps(report.counts)}
    connection.execute(insert(subject_requests).values(values | stored))


def find(
    connection: Connection,
    report_id: bytes,
    domain: str | None,
    now: datetime,
    *,
    lock: bool = False,
) -> Report | None:
    query = _open(domain, now).where(_r.report_id == report_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return _report(row) if row else None


def list_open(connection: Connection, domain: str | None, now: datetime) -> list[Report]:
    """List the reports that are not over, the oldest first."""
    query = _open(domain, now).order_by(_r.asked_at, _r.report_id)
    return [_report(row) for row in connection.execute(query)]


def change(connection: Connection, report_id: bytes, **values: Any) -> None:
    statement = update(subject_requests).where(_r.report_id == report_id)
    connection.execute(statement.values(**values))


def delete_expired(connection: Connection, now: datetime) -> int:
    return connection.execute(delete(subject_requests).where(_r.expires_at <= now)).rowcount


def _open(domain: str | None, now: datetime) -> Select[Any]:
    """Select the reports of this domain, or of all: what is over or another's isn't there."""
    query = select(*(_r[name] for name in Report.__slots__)).where(_r.expires_at > now)
    return query if domain is None else query.where(_r.domain == domain)


def _report(row: Any) -> Report:
    macs, counts = row.macs, json.loads(row.counts)
    each = [macs[first : first + _MAC_BYTES] for first in range(0, len(macs), _MAC_BYTES)]
    return Report(**(row._asdict() | {"macs": each, "counts": counts}))
