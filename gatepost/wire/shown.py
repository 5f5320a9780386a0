"""The forms in which the portal and the main server speak of messages; times are ISO 8601, UTC.

Unknown fields are refused by the side that is called, and passed over by the one that asks: the
main server may be the newer one.
"""

import msgspec


class Step(msgspec.Struct, frozen=True):
    """A step of a timeline. `kind` is done, trouble or next; `at` is None where nobody noted the
    time."""

    kind: str
    at: str | None
    what: str
    more: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message, with all that the ledger knows of it but what is in it; and its story, in
    words."""

    message_id: str
    client_id: str
    domain: str
    status: str
    reason: str | None
    created_at: str
    queued_at: str
    delivered_at: str | None
    expires_at: str
    attempt_count: int
    generation: int
    queue: str
    duplicate_of: str | None
    readable: bool
    """True if anything is kept that could be opened."""
    why: str
    timeline: list[Step]
    registered: bool = True
    """True if the ledger has it; if not, all of this is what the queue knows."""
    as_of: str | None = None
    """The time that this is of, where that is long ago: a replica of the ledger lags behind."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A message in a list. The number is None where it can't be read any more."""

    message_id: str
    client_id: str
    domain: str
    status: str
    reason: str | None
    reason_in_words: str | None
    created_at: str
    delivered_at: str | None
    due_at: str | None
    attempt_count: int
    sender_number_masked: str | None


class MessagePage(msgspec.Struct, frozen=True):
    """A page of messages; `before` asks for the next one. `looked_back_to` is there where this page
    isn't full, though older messages were not looked at yet."""

    messages: list[Listed]
    before: str | None
    looked_back_to: str | None
    kept_days: int | None = None
    """Days for which such messages are kept; of different clients, the most."""
    kept_days_at_least: int | None = None
    as_of: str | None = None
    """The time that this is of, where that is long ago: a replica of the ledger lags behind."""


class SenderSearch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search for a number, in a body: in an address it would be in logs and histories."""

    number: str
    domain: str | None = None


class Sender(msgspec.Struct, frozen=True):
    """The value that stands for a number in an address: its MACs, which say nothing to anybody
    else."""

    sender: str


class OpenOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str = ""


class OpenedMessage(msgspec.Struct, frozen=True):
    """A message that was opened. The number is masked, even here: whoever needs all of it has it
    from the partner."""

    message_id: str
    sender_number_masked: str
    message_body: str


class FailedReason(msgspec.Struct, frozen=True):
    reason: str | None
    in_words: str
    count: int
    redrivable: bool


class FailedReasons(msgspec.Struct, frozen=True):
    """The reasons of failures. `counted_since` is there where there are more, from before."""

    reasons: list[FailedReason]
    counted_since: str | None


class MessageIds(msgspec.Struct, frozen=True):
    """The ids of the messages that were changed."""

    message_ids: list[str]


class RedriveThese(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message_ids: list[str]


class DiscardThese(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message_ids: list[str]
    reason: str


class RedriveOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An order to redrive all messages that match; dates are as in lists. A dry run counts them,
    and changes nothing."""

    reason: str | None = None
    client: str | None = None
    domain: str | None = None
    first: str | None = None
    end: str | None = None
    rate_per_second: int = 10
    dry_run: bool = True


class Redrive(msgspec.Struct, frozen=True, kw_only=True):
    """A redrive. `redrive_id` and `state` are None after a dry run: there is none."""

    redrive_id: str | None
    domain: str | None
    client_id: str | None
    reason: str | None
    rate_per_second: int
    expected: int
    redriven: int
    state: str | None
    actor: str
    created_at: str
    ended_at: str | None


class Redrives(msgspec.Struct, frozen=True):
    """Redrives, the latest first."""

    redrives: list[Redrive]
