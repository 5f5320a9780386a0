"""Envelopes that arrive: decoded, opened, and made into rows sealed for rest.

All of this happens before a transaction begins, and all of it can fail for one message without
touching another.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from gatepost.clock import ledger_time
from gatepost.decoding import Undecodable
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.ids import id_ms
from gatepost.wire.content import decode_content
from gatepost.wire.envelope import Envelope, decode
from main_server.keys.data_keys import HeldKeys
from main_server.keys.lifetimes import MAX_LIFETIME
from main_server.keys.service import Keyring
from main_server.messages.repository import AcceptedBy

KEY_UNAVAILABLE = "key_unavailable"
KEY_CONFLICT = "key_conflict"


@dataclass(frozen=True, slots=True)
class Arrival:
    """An envelope and what was in it; without content it could not be opened.

    Where it is `locked` it can't be opened now: a key that is needed can't be used until it is
    restored. The others of its batch don't wait with it.
    """

    envelope: Envelope
    content: bytes | None
    locked: bool = False

    def expired(self, now: int) -> bool:
        return ends_at(self.envelope) <= now


def ends_at(envelope: Envelope) -> int:
    """Return when an envelope's message expires, not later than any message may: by then its key
    may be destroyed."""
    longest = id_ms(envelope.message_id) + MAX_LIFETIME // timedelta(milliseconds=1)
    return min(envelope.expires_at, longest)


def arrive(keyring: Keyring, data: msgspec.Raw) -> Arrival | None:
    """Open what came; return None where it is no envelope at all."""
    try:
        envelope = decode(bytes(data))
    except Undecodable:
        return None
    try:
        content = keyring.open_envelope(envelope)
        decode_content(content)
    except KeysUnavailable:
        return Arrival(envelope, None, locked=True)
    except (CannotOpen, Undecodable):
        return Arrival(envelope, None)
    return Arrival(envelope, content)


def storable(arrival: Arrival, data_keys: HeldKeys) -> Arrival:
    """Return the same arrival, locked if the key is not to be had under which its row would be
    sealed."""
    if arrival.content is None or data_keys.covers(arrival.envelope):
        return arrival
    return Arrival(arrival.envelope, None, locked=True)


def readable(arrivals: Iterable[Arrival]) -> list[Envelope]:
    """List the envelopes that will need a data key. Of the others nothing is sure, not even whose
    they are."""
    return [arrival.envelope for arrival in arrivals if arrival.content is not None]


def queued_row(keyring: Keyring, data_keys: HeldKeys, arrival: Arrival, now: int) -> dict[str, Any]:
    """Return the row of a message that waits. Unless its sender has said when, it is due at once,
    whatever its proxy took for the time."""
    envelope = arrival.envelope
    said = envelope.due_at
    due_at = min(envelope.queued_at, now) if said is None else min(said, ends_at(envelope))
    times = {"due_at": ledger_time(due_at)}
    return _sealed_row(keyring, data_keys, arrival) | {"status": "queued", **times}


def _sealed_row(keyring: Keyring, data_keys: HeldKeys, arrival: Arrival) -> dict[str, Any]:
    """Return the row of a message with its body sealed for rest."""
    envelope, content = arrival.envelope, arrival.content
    assert content is not None
    key_id, body = data_keys.seal(envelope, content)
    kid, hashed = keyring.hash_number(envelope.domain, decode_content(content).sender_number)
    return _row(envelope) | {
        "sender_number_hashed": hashed,
        "hmac_kid": kid,
        "encrypted_body": body,
        "key_id": key_id,
    }


def failed_row(
    keyring: Keyring, data_keys: HeldKeys, arrival: Arrival, reason: str, attempt: int
) -> dict[str, Any]:
    """Return the row of a message that failed, with its body where it may yet be redriven."""
    lasting = reason in ("expired", "unreadable") or storable(arrival, data_keys).content is None
    row = _row(arrival.envelope) if lasting else _sealed_row(keyring, data_keys, arrival)
    return row | {"status": "failed", "reason": reason, "attempt_count": attempt}


def duplicate_row(envelope: Envelope, original: bytes) -> dict[str, Any]:
    """Return the row of a message that came second under its Idempotency-Key: it has no body."""
    return _row(envelope) | {"status": "duplicate", "duplicate_of": original}


def key_rows(envelopes: Iterable[Envelope]) -> list[dict[str, Any]]:
    """Return the claims of the messages that came with an Idempotency-Key."""
    return [
        {
            "client_id": envelope.client_id,
            "key_mac": envelope.key_mac,
            "payload_mac": envelope.payload_mac,
            "message_id": envelope.message_id.bytes,
            "created_at": ledger_time(envelope.queued_at),
        }
        for envelope in envelopes
        if envelope.key_mac is not None
    ]


def in_order(arrivals: dict[UUID, Arrival]) -> list[Arrival]:
    """Sort arrivals by id, the order in which every transaction touches its rows."""
    return [arrivals[message_id] for message_id in sorted(arrivals)]


def _row(envelope: Envelope) -> dict[str, Any]:
    stamp = envelope.client_timestamp
    queued_at = ledger_time(envelope.queued_at)
    return {
        "message_id": envelope.message_id.bytes,
        "client_id": envelope.client_id,
        "domain": envelope.domain,
        "cert_fingerprint": bytes.fromhex(envelope.cert_fingerprint),
        "created_at": queued_at,
        "queued_at": queued_at,
        "due_at": queued_at,
        "expires_at": ledger_time(ends_at(envelope)),
        "client_timestamp": None if stamp is None else ledger_time(stamp),
        "queue": envelope.queue,
        "priority": envelope.priority,
        "ordering_key": envelope.ordering_mac,
        "generation": 0,
        "attempt_count": 0,
        "reason": None,
        "delivered_at": None,
        "sender_number_hashed": None,
        "hmac_kid": None,
        "encrypted_body": None,
        "key_id": None,
        "duplicate_of": None,
        "accepted_by": AcceptedBy.QUEUE,  # otherwise than as queued, rows come from there alone
    }
