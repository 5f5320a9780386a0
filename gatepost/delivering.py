"""The wire forms of POST /internal/messages/deliver, between the workers and the main server.

A worker names what it holds; it sends an envelope only for those that the main server asks for. The
answer is 200 with one result for each delivery, in order: a refusal is a result, not an error.
"""

from enum import StrEnum
from uuid import UUID

import msgspec

MAX_DELIVERIES = 500
NO_ENVELOPE = msgspec.Raw()


class Result(StrEnum):
    DELIVERED = "delivered"
    ALREADY = "already"
    SEND_ENVELOPE = "send_envelope"
    DUPLICATE = "duplicate"
    EXPIRED = "expired"
    ERASED = "erased"
    REFUSED = "refused"


class DeliveryOffer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    message_id: UUID
    attempt: int
    envelope: msgspec.Raw = NO_ENVELOPE
    """The envelope as it lay in the queue; it is looked into only by the one who may open it."""


class DeliverRequest(msgspec.Struct, frozen=True):
    deliveries: list[DeliveryOffer]


class DeliverResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    message_id: UUID
    result: Result
    reason: str | None = None
    retryable: bool = False


class DeliverAnswer(msgspec.Struct, frozen=True):
    results: list[DeliverResult]


encode_json = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(DeliverRequest).decode
decode_answer = msgspec.json.Decoder(DeliverAnswer).decode
