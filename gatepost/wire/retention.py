"""The forms in which the portal and the main server speak of how long messages are kept, and of
legal holds; times are ISO 8601, UTC.

Unknown fields are refused by the side that is called, and passed over by the one that asks: the
main server may be the newer one. Orders are the same for administrators who come with a
certificate.
"""

import msgspec


class HoldOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason for a hold, for the audit log, and for whoever looks at the hold later."""

    reason: str


class DaysOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A client's own days; None for as long as its domain's."""

    retention_days: int | None


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    hold: str
    domain: str
    client_id: str | None
    """The client; None where the hold is on the whole domain."""
    reason: str
    set_by: str
    set_by_in_words: str
    set_at: str
    may_lift: bool
    """True if the one who asks may lift it."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The retention of a domain's or a client's messages, and what comes next."""

    domain: str
    client_id: str | None
    retention_days: int
    own_days: int | None
    """Its own days; None where they are as usual, for a client as its domain's are."""
    usual_days: int
    """The days that would hold without its own."""
    may_set: bool
    holds: list[Hold]
    next_day: str
    """The day whose messages are the next to go."""
    next_at: str
    """The moment after which they go, in the night; nothing goes while there is a hold."""
    last_run_at: str | None
    """The time at which retention was last done whole; None if it never was."""
