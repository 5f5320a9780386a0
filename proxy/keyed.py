"""The commit of a message that came with an Idempotency-Key: in sequence, so that a repeat is
found.

The steps are: claim in Redis, register, enqueue. The ledger's table decides; where one store can't
be asked the other does, and the ledger turns what then disagrees into a duplicate. Keys and
payloads are known here and there only by their MACs, under a key that opens nothing.
"""

import contextlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from gatepost.errors import GatepostError, KeyReused, OutcomeUnknown, StillUnderWay, Unavailable
from gatepost.queue import QueueError
from gatepost.wire.contract import Registered, RegisterResult
from gatepost.wire.envelope import Envelope
from proxy.admission import Submission
from proxy.claims import Claim, Claims, Standing
from proxy.commit import Commit, Durability, State, verdict

Envelop = Callable[[UUID], Envelope]


@dataclass(frozen=True, slots=True)
class Key:
    """An Idempotency-Key of a client and what was sent under it, as MACs."""

    client_id: str
    mac: bytes
    payload_mac: bytes


@dataclass(frozen=True, slots=True)
class Committed:
    """The message that a sender is answered with: its own, or the one that came first."""

    message_id: UUID
    durability: Durability
    replayed: bool = False


def make_key(mac_key: bytes, client_id: str, key: str, submission: Submission) -> Key:
    """Make the MACs. A payload's MAC covers the Idempotency-Key, too: so messages can't be tried
    out against it by somebody who has the MAC key alone, and equal messages under two keys don't
    show as equal."""
    named = _joined(client_id, key)
    said = (submission.sender_number, submission.message_body, *submission.schedule.parts)
    payload = named + _joined(*said)
    return Key(
        client_id,
        hmac.digest(mac_key, b"idempotency\0" + named, sha256),
        hmac.digest(mac_key, b"payload\0" + payload, sha256),
    )


def ordering_mac(mac_key: bytes, client_id: str, ordering_key: str | None) -> bytes | None:
    """Return what is kept of an ordering key: each client has lines of its own."""
    if ordering_key is None:
        return None
    return hmac.digest(mac_key, b"ordering\0" + _joined(client_id, ordering_key), sha256)


def _joined(*parts: str) -> bytes:
    """Join parts, each preceded by its length, so that no two lists have one text."""
    encoded = [part.encode() for part in parts]
    return b"".join(struct.pack(">I", len(part)) + part for part in encoded)


class KeyedCommit:
    def __init__(self, claims: Claims, commit: Commit) -> None:
        self._claims = claims
        self._commit = commit

    async def commit(self, key: Key, fresh_id: UUID, envelop: Envelop) -> Committed:
        claim = await self._claim(key, fresh_id)
        if claim is not None and claim.payload_mac != key.payload_mac:
            raise KeyReused()
        if claim is not None and claim.standing is Standing.UNDER_WAY:
            raise StillUnderWay()
        if claim is not None and claim.standing is Standing.DONE:
            return Committed(claim.message_id, claim.durability, replayed=True)
        message_id = claim.message_id if claim else fresh_id
        try:
            committed = await self._in_sequence(envelop(message_id))
        except BaseException as error:  # whoever breaks it off, too
            if claim is not None:
                await self._end(key, message_id, error)
            raise
        if claim is not None or not self._commit.queue_problem:
            with contextlib.suppress(QueueError):
                await self._claims.settle(
                    key.client_id,
                    key.mac,
                    committed.message_id,
                    key.payload_mac,
                    committed.durability,
                )
        return committed

    async def _end(self, key: Key, message_id: UUID, error: BaseException) -> None:
        """End our claim, which is of no use to us any more; it must not stand in the way of a
        repeat."""
        known = isinstance(error, GatepostError) and not isinstance(error, OutcomeUnknown)
        end = self._claims.drop if known else self._claims.release
        with contextlib.suppress(QueueError):
            await end(key.client_id, key.mac, message_id)

    async def _claim(self, key: Key, fresh_id: UUID) -> Claim | None:
        """Claim the key; return None where Redis can't be asked: then the ledger decides."""
        if self._commit.queue_problem:
            return None
        try:
            return await self._claims.claim(key.client_id, key.mac, fresh_id, key.payload_mac)
        except QueueError:
            return None

    async def _in_sequence(self, envelope: Envelope) -> Committed:
        registered = await self._commit.register(envelope)
        ledger = _ledger_state(registered)
        if isinstance(registered, RegisterResult) and registered.original is not None:
            return Committed(registered.original, Durability.LEDGER, replayed=True)
        exposed = ledger is not State.COMMITTED
        queue = await self._commit.enqueue(envelope, exposed=exposed)
        return Committed(envelope.message_id, verdict(queue, ledger))


def _ledger_state(registered: RegisterResult | State) -> State:
    if isinstance(registered, State):
        return registered
    match registered.result:
        case Registered.REGISTERED | Registered.DUPLICATE:
            return State.COMMITTED
        case Registered.CONFLICT:
            raise KeyReused()
        case _:  # the ledger can't take this message, now or ever: nobody may promise it
            raise Unavailable()
