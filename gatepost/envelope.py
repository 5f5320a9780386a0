"""The envelope: a message's immutable form on its way from the edge to the ledger.

All that can be read of a message travels sealed (gatepost.sealing); the rest is what routing,
retries and tracing need. The encoding is one JSON object, so that it can be put into a call
unparsed.
"""

from uuid import UUID

import msgspec


class Envelope(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    message_id: UUID
    client_id: str
    domain: str
    queue: str
    cert_fingerprint: str
    queued_at: int
    """Milliseconds since the epoch, as all times inside."""
    expires_at: int
    sealed: bytes
    request_id: str
    traceparent: str
    client_timestamp: int | None = None
    key_mac: bytes | None = None
    """MAC of the Idempotency-Key, where one was sent, and of what was sent under it."""
    payload_mac: bytes | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)


def encode(envelope: Envelope) -> bytes:
    return _encoder.encode(envelope)


def decode(data: bytes | bytearray) -> Envelope:
    """Raises msgspec.MsgspecError for what isn't an envelope."""
    return _decoder.decode(data)


class _Trace(msgspec.Struct, frozen=True):
    request_id: str = ""
    traceparent: str = ""


_trace_decoder = msgspec.json.Decoder(_Trace)


def trace_of(data: bytes) -> dict[str, str]:
    """The ids by which an encoded envelope is found in logs and traces; nothing else is read."""
    try:
        trace = _trace_decoder.decode(data)
    except msgspec.MsgspecError:
        return {}
    return {"request_id": trace.request_id, "traceparent": trace.traceparent}
