"""SQL for looking through the audit log. Each walk goes along one index, newest entry first, and no
further than it was told: a log is as long as a gateway's life.

Every index begins with the domain: a walk for the administrators of one meets nobody else's (I12).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from main_server.audit.chain import Link
from main_server.store.tables import audit_log

_c = audit_log.c
_COLUMNS = [_c[name] for name in Link.__slots__]
_KEYS = ("subject", "actor", "action")
"""The filters that have an index of their own, the one that narrows a search down most first."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The texts that entries must say, to the letter; None is anything."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None

    @property
    def given(self) -> list[str]:
        return [name for name in _KEYS if getattr(self, name) is not None]

    @property
    def key(self) -> str | None:
        """The filter whose index is walked along; None if there is none."""
        return next(iter(self.given), None)

    def fit(self, looked: "Looked") -> bool:
        return all(getattr(looked, name) == getattr(self, name) for name in self.given)


@dataclass(frozen=True, slots=True)
class Times:
    """The times from `first` on, and before `end`; naive, UTC."""

    first: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Looked:
    """An entry that was looked at, with what decides whether it is shown."""

    at: datetime
    seq: int
    actor: str
    action: str
    subject: str


def walk(
    connection: Connection, domain: str | None, filters: Filters, times: Times, limit: int
) -> list[Looked]:
    """Return the newest entries of a domain (None: of no domain's) along the filters' index."""
    columns = [_c[name] for name in Looked.__slots__]
    query = _along(select(*columns), filters).where(
        _c.domain == domain if domain is not None else _c.domain.is_(None),
        _c.at >= times.first,
        _c.at < times.end,
    )
    query = query.order_by(_c.at.desc(), _c.seq.desc()).limit(limit)
    return [Looked(*row) for row in connection.execute(query)]


def list_domains(
    connection: Connection, filters: Filters, times: Times
) -> list[tuple[datetime, str | None]]:
    """List the domains with entries along the filters' index, each behind the time of its latest
    one."""
    query = _along(select(func.max(_c.at), _c.domain), filters).where(_c.at < times.end)
    found = connection.execute(query.group_by(_c.domain))
    return [(row[0], row[1]) for row in found if row[0] >= times.first]


def read_links(connection: Connection, seqs: Sequence[int]) -> list[Link]:
    rows = connection.execute(select(*_COLUMNS).where(_c.seq.in_(seqs)))
    by_seq = {row.seq: Link(*row) for row in rows}
    return [by_seq[seq] for seq in seqs if seq in by_seq]


def _along(query: Select[Any], filters: Filters) -> Select[Any]:
    key = filters.key
    query = query.with_hint(audit_log, f"FORCE INDEX (ix_audit_log_{key or 'domain'})")
    return query if key is None else query.where(_c[key] == getattr(filters, key))
