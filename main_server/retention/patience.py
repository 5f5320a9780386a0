"""The patience of a run: how long it waits for a backup's snapshot to end, or for a lock."""

import time

from sqlalchemy import Engine

from gatepost.errors import GatepostError
from main_server.retention import partition_repository as repository
from main_server.store.database import transact

_LOOK_AGAIN = 1.0


class InTheWay(GatepostError):
    """Somebody was in the way of retention for too long. Run it again later."""


class Patience:
    """The patience of one run, for all of its waiting together."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._looked = 0.0

    def wait(self, seconds: float, reason: str) -> None:
        """Wait; raise InTheWay once all patience is used up."""
        self._demand_some(reason)
        begun = time.monotonic()
        time.sleep(min(seconds, self._left))
        self._left -= time.monotonic() - begun

    def wait_for_snapshots(self, engine: Engine) -> None:
        """Wait until the open snapshots have ended. Whatever is seen in two looks, a second apart,
        is a snapshot; whatever is gone by the second was one statement, and others that came
        meanwhile are not waited for."""
        if time.monotonic() - self._looked < _LOOK_AGAIN:
            return
        seen = transact(engine, repository.open_snapshots)
        while seen:
            begun = time.monotonic()
            time.sleep(_LOOK_AGAIN)
            still = transact(engine, repository.open_snapshots)
            self._left -= time.monotonic() - begun
            lasting = sorted(who for one, who in still.items() if one in seen)
            if not lasting:
                break
            names = ", ".join(lasting)
            self._demand_some(f"A backup, or another long look at the ledger: {names}.")
            seen = still
        self._looked = time.monotonic()

    def _demand_some(self, reason: str) -> None:
        if self._left <= 0:
            raise InTheWay(
                f"{reason} It was waited for in vain; what was done is done. Run it again later."
            )
