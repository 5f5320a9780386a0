"""The envelope: a message's immutable form on its way from the edge to the ledger.

All that can be read of a message travels sealed (gatepost.trust.sealing); the rest is what routing,
retries and tracing need. The encoding is one JSON object, so that it can be put into a call
unparsed.
"""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from gatepost.clock import FIRST_MS, LAST_MS
from gatepost.decoding import Undecodable, json_decoder
from gatepost.ids import id_ms

# The values that the ledger's columns hold: an envelope that no row can be made of must not get so
# far as to be tried there again and again, with all that is in its batch.
Fingerprint = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Ms = Annotated[int, Meta(ge=FIRST_MS, le=LAST_MS)]
Mac = Annotated[bytes, Meta(min_length=32, max_length=32)]


class Envelope(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    message_id: UUID
    client_id: Annotated[str, Meta(pattern=r"\A[!-~]{1,193}\Z")]
    domain: Annotated[str, Meta(pattern=r"\A[!-~]{1,128}\Z")]
    queue: Annotated[str, Meta(pattern=r"\A[!-~]{1,160}\Z")]
    cert_fingerprint: Fingerprint
    queued_at: Ms
    """Milliseconds since the epoch, as are all times of an envelope."""
    expires_at: Ms
    sealed: bytes
    request_id: str
    traceparent: str
    client_timestamp: Ms | None = None
    key_mac: Mac | None = None
    """MAC of the Idempotency-Key, where one was sent, and of what was sent under it."""
    payload_mac: Mac | None = None
    priority: Annotated[int, Meta(ge=1, le=10)] = 5
    due_at: Ms | None = None
    """The time before which it is not delivered; None is at once."""
    ordering_mac: Mac | None = None
    """MAC of the ordering key: the message goes behind those of the same key that came earlier."""

    def __post_init__(self) -> None:
        if self.message_id.version != 7 or id_ms(self.message_id) > LAST_MS:
            raise ValueError("this is not an id of ours")


_encoder = msgspec.json.Encoder()
_decode = json_decoder(Envelope)


def encode(envelope: Envelope) -> bytes:
    return _encoder.encode(envelope)


def decode(data: bytes | bytearray) -> Envelope:
    """Return an envelope from its encoding; raise Undecodable for what isn't one."""
    return _decode(data)


class _Trace(msgspec.Struct, frozen=True):
    request_id: str = ""
    traceparent: str = ""
    domain: str = ""


_decode_trace = json_decoder(_Trace)


def trace_of(data: bytes) -> dict[str, str]:
    """Return what an encoded envelope is found by in logs and traces, and counted by; nothing else
    is read."""
    try:
        trace = _decode_trace(data)
    except Undecodable:
        return {}
    return {
        "request_id": trace.request_id,
        "traceparent": trace.traceparent,
        "domain": trace.domain,
    }
