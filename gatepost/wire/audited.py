"""The forms in which the portal and the main server speak of the audit log; times are ISO 8601,
UTC.

Unknown fields are refused by the side that is called, and passed over by the one that asks: the
main server may be the newer one.
"""

import msgspec


class Detail(msgspec.Struct, frozen=True):
    name: str
    value: str


class AuditAction(msgspec.Struct, frozen=True):
    """An action that can be searched for."""

    action: str
    in_words: str


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the audit log: who did what to what. `number` is its place in the chain, for
    those who see all of it."""

    number: int | None
    at: str
    actor: str
    actor_in_words: str
    action: str
    action_in_words: str
    domain: str | None
    subject: str
    subject_in_words: str
    details: list[Detail]


class AuditPage(msgspec.Struct, frozen=True):
    """A page of entries; `before` asks for the next one. `looked_back_to` is there where this page
    isn't full, though older entries were not looked at yet."""

    entries: list[AuditEntry]
    before: str | None
    looked_back_to: str | None
    actions: list[AuditAction]


class AuditCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A walk along the chain: `entries` of `of` were read and hang together, the last of them of
    the time `up_to`. `state` is running, whole or broken, `fault` says where it is broken."""

    state: str
    actor_in_words: str
    created_at: str
    ended_at: str | None
    entries: int
    of: int
    head: str
    up_to: str | None
    fault: str | None


class AuditChecks(msgspec.Struct, frozen=True):
    """The latest check; None if nobody has asked for any."""

    check: AuditCheck | None
