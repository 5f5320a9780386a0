"""What the portal and the main server say to each other of how long messages are kept, and of legal
holds; times are ISO 8601, UTC.

Unknown fields are refused by who is called, and passed over by who asks: the main server may be the
newer one. Orders are the same for administrators who come with a certificate.
"""

import msgspec


class HoldOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why: for the audit log, and for who looks at the hold later."""

    reason: str


class DaysOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A client's own days; None: as long as its domain's."""

    retention_days: int | None


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    hold: str
    domain: str
    client_id: str | None
    """None where it is on the whole domain."""
    reason: str
    set_by: str
    set_by_in_words: str
    set_at: str
    may_lift: bool
    """Whether who asks may."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """For how long a domain's or a client's messages are kept, and what comes next."""

    domain: str
    client_id: str | None
    retention_days: int
    own_days: int | None
    """None where it is as usual: of a client, as its domain's are."""
    usual_days: int
    """What it would be without its own."""
    may_set: bool
    holds: list[Hold]
    next_day: str
    """The messages of this day are the next to go …"""
    next_at: str
    """… in the night after this moment; nothing goes while there is a hold."""
    last_run_at: str | None
    """When retention was last done whole; None if it never was."""
