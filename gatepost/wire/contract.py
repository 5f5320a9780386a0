"""The contract of the internal calls: the wire forms between workers, proxies and the main server.

A worker names what it holds; it sends an envelope only for those that the main server asks for. The
answer is 200 with one result for each item, in order: a refusal is a result, not an error.
"""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from gatepost.decoding import json_decoder
from gatepost.wire.envelope import Ms

MAX_ITEMS = 1000
NO_ENVELOPE = msgspec.Raw()

Attempt = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Result(StrEnum):
    """The result of a delivery, in the ledger's eyes."""

    DELIVERED = "delivered"
    ALREADY = "already"
    SEND_ENVELOPE = "send_envelope"
    DUPLICATE = "duplicate"
    EXPIRED = "expired"
    ERASED = "erased"
    REFUSED = "refused"
    HELD = "held"
    """The result of a message that has time left, and whose queue is paused: nothing has become of
    it."""


class DeliveryOffer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    message_id: UUID
    attempt: Attempt
    envelope: msgspec.Raw = NO_ENVELOPE
    """The envelope as it lay in the queue; it is looked into only by the one who may open it."""
    traceparent: str = ""
    """The attempt's trace context, where the message's trace is recorded."""
    held: bool = False
    """True if its queue is paused: it may end, as its time is over there, and is not to be
    delivered."""


class DeliverRequest(msgspec.Struct, frozen=True):
    deliveries: list[DeliveryOffer]


class DeliverResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    message_id: UUID
    result: Result
    reason: str | None = None
    retryable: bool = False


class DeliverAnswer(msgspec.Struct, frozen=True):
    results: list[DeliverResult]


class Registered(StrEnum):
    """The result of a registration."""

    REGISTERED = "registered"
    DUPLICATE = "duplicate"
    """The result where another message of the same Idempotency-Key came first; `original` is that
    one."""
    CONFLICT = "conflict"
    """The result where the key was used for another payload."""
    EXPIRED = "expired"
    REFUSED = "refused"


class RegisterRequest(msgspec.Struct, frozen=True):
    envelopes: list[msgspec.Raw]
    queue_skipped: bool = False
    """True if the queue does not answer, so that only the ledger is asked to keep these."""


class RegisterResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    result: Registered
    original: UUID | None = None
    reason: str | None = None


class RegisterAnswer(msgspec.Struct, frozen=True):
    results: list[RegisterResult]


class Settlement(StrEnum):
    """The end of an attempt that did not deliver."""

    RETRY = "retry"
    FAILED = "failed"


class SettleItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    message_id: UUID
    attempt: Attempt
    outcome: Settlement
    reason: Annotated[str, Meta(pattern=r"\A[a-z_]{1,32}\Z")]
    started_at: Ms
    ended_at: Ms
    due_at: Ms | None = None
    generation: Annotated[int, Meta(ge=0)] = 0
    """The generation of the delivery: how often the message had been redriven by then."""
    envelope: msgspec.Raw = NO_ENVELOPE
    """The envelope, with a failure, so that a message that was never registered leaves its row."""


class SettleRequest(msgspec.Struct, frozen=True):
    settlements: list[SettleItem]


class QueueNames(msgspec.Struct, frozen=True):
    """The queues to be served; None stands for the default one. Nothing is delivered from those
    that are `paused`, which are given by their whole names: all else goes on there."""

    queues: list[str | None]
    paused: list[str] = []


encode_json = msgspec.json.Encoder().encode
decode_deliver_request = json_decoder(DeliverRequest)
decode_deliver_answer = json_decoder(DeliverAnswer)
decode_register_request = json_decoder(RegisterRequest)
decode_register_answer = json_decoder(RegisterAnswer)
decode_settle_request = json_decoder(SettleRequest)
decode_queue_names = json_decoder(QueueNames)
