"""The forms in which the portal and the main server speak of domains; times are ISO 8601, UTC.

Unknown fields are refused by the side that is called, and passed over by the one that asks: the
main server may be the newer one.
"""

import msgspec

USUAL_RETENTION_DAYS = 30


class DomainSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of a domain. Without a prefix its messages wait in the queue that domains share,
    without days they are kept for as long as is usual. `time_zone` is that of its people who have
    chosen none themselves; without one it is UTC."""

    queue_prefix: str | None = None
    max_undelivered: int = 1_000_000
    retention_days: int | None = None
    time_zone: str | None = None


class NewDomain(DomainSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    domain: str


class Disabling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason for which a domain is disabled, for the audit log."""

    reason: str = ""


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """A domain as administrators see it. `waiting` is how many of its messages wait in the queue;
    None where that can't be told, as in a queue that domains share."""

    domain: str
    queue: str | None
    queue_prefix: str | None
    former_queues: list[str]
    max_undelivered: int
    retention_days: int
    retention_is_usual: bool
    created_at: str
    disabled_at: str | None
    clients: int
    people: int
    waiting: int | None = None
    time_zone: str | None = None


class Domains(msgspec.Struct, frozen=True):
    domains: list[Domain]
