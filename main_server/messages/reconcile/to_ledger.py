"""Queue → ledger: what only Redis has is registered, as soon as both can be reached (I1).

The senders of these have their 202 already, so a message that can't be queued any more leaves a row
that says why. One whose Idempotency-Key another has with another content is counted: its sender was
told otherwise, and somebody must look at it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gatepost.clock import Clock
from gatepost.queue import Exposed, Queue
from gatepost.wire.contract import Registered, RegisterResult
from main_server.keys.service import Keyring
from main_server.messages.register import FOR_NOW, register
from main_server.store.database import Ledger

BATCH = 500


@dataclass(frozen=True, slots=True)
class Drained:
    """The number of a queue's messages that are in the ledger now, and of these how many as
    conflicts."""

    registered: int = 0
    conflicts: int = 0


class ToLedger:
    def __init__(self, ledger: Ledger, keyring: Keyring, clock: Clock) -> None:
        self._ledger = ledger
        self._keyring = keyring
        self._clock = clock

    async def drain(self, queue: Queue) -> Drained:
        """Register all that is exposed in a queue."""
        registered = conflicts = 0
        while exposed := await queue.exposed(BATCH):
            results = await self._register(exposed)
            known = [
                one.id
                for one, result in zip(exposed, results, strict=True)
                if result.reason not in FOR_NOW
            ]
            await queue.registered(known)
            registered += len(known)
            conflicts += sum(one.result is Registered.CONFLICT for one in results)
            if len(known) < len(exposed):
                break  # the ledger has nothing of the others yet: they are tried again, not at once
        return Drained(registered, conflicts)

    async def _register(self, exposed: Sequence[Exposed]) -> list[RegisterResult]:
        envelopes = [msgspec.Raw(one.payload) for one in exposed]
        return await self._ledger.run(
            register, self._keyring, self._clock, envelopes, accepted=True
        )
