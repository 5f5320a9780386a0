"""Claims on Idempotency-Keys: the message that the ledger was told of first under a key has it.

What comes second under a key and says the same is a duplicate of the first. What says something
else is a conflict: its sender may have been told that it is accepted, by a store that didn't know
of the first. So it ends as failed, with its body, and is delivered by nobody before somebody
redrives it.
"""

from collections.abc import Iterable

from sqlalchemy import Connection

from gatepost.wire.envelope import Envelope
from main_server.messages import repository
from main_server.messages.arrivals import Arrival, key_rows
from main_server.messages.repository import Claim

Claims = dict[tuple[str, bytes], Claim]


def claim_keys(connection: Connection, arrivals: Iterable[Arrival]) -> Claims:
    """Claim the keys of the messages that could be opened: of others nothing is sure, not even
    whose they are."""
    rows = key_rows(one.envelope for one in arrivals if one.content is not None)
    return repository.claim_keys(connection, rows) if rows else {}


def find_first(envelope: Envelope, claims: Claims) -> Claim | None:
    """Return the claim of the message that came first under the envelope's key, where that is
    another one."""
    claim = claims.get((envelope.client_id, envelope.key_mac)) if envelope.key_mac else None
    return None if claim is None or claim.message_id == envelope.message_id.bytes else claim


def conflicts(envelope: Envelope, first: Claim) -> bool:
    return first.payload_mac != envelope.payload_mac
