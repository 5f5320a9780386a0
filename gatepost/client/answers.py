"""The gateway's answers, as frozen values. None has a field for a body or a number."""

from dataclasses import dataclass, field
from datetime import datetime

from gatepost.client.errors import GatepostError

# Nothing but a late success or an audited redrive moves a message on from these.
FINAL_STATUSES = frozenset({"delivered", "failed", "erased", "duplicate"})


@dataclass(frozen=True, slots=True)
class Receipt:
    """The proof that the gateway has the message and will not lose it.

    `durability` says who has committed it: `full` (queue and ledger), `queue` or `ledger`.
    """

    message_id: str
    status: str
    queued_at: datetime
    durability: str
    request_id: str | None
    # A caller may have made it of anything, so it is not shown.
    idempotency_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sent:
    """The outcome of one message of many: its receipt, or an error that says why there is none.

    A retryable error means that the message was tried for as long as was wanted.
    """

    idempotency_key: str = field(repr=False)
    receipt: Receipt | None = None
    error: GatepostError | None = None


@dataclass(frozen=True, slots=True)
class MessageStatus:
    """The state of a message on its way.

    `reason` is why it failed, in a word of the gateway's. `source` is `queue` where the ledger
    could not be asked: then `status` is `unknown`, as the message may have been delivered
    meanwhile.
    """

    message_id: str
    status: str
    created_at: datetime
    queued_at: datetime | None
    delivered_at: datetime | None
    attempt_count: int
    reason: str | None = None
    source: str | None = None

    @property
    def final(self) -> bool:
        return self.status in FINAL_STATUSES


@dataclass(frozen=True, slots=True)
class Certificate:
    """The certificate that the gateway saw."""

    fingerprint: str
    serial: str
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Limits:
    """The rate at which a client may ask."""

    rate_per_second: float
    burst: int


@dataclass(frozen=True, slots=True)
class Formats:
    """The bounds that a message must keep to."""

    max_body_characters: int


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity that this certificate has to the gateway, and what it may do."""

    client_id: str
    domain: str
    role: str
    name: str
    certificate: Certificate
    limits: Limits
    formats: Formats
