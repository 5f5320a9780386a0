"""The reconciler's loop. One main server leads; the others stand by to take over.

The cursor moves at a bounded rate. Where a queue's epoch has changed its data was wiped, and where
the lead is new nobody knows what happened before: then everything is swept at once.
"""

import asyncio

from prometheus_client import Counter, Gauge
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import Clock
from gatepost.errors import Unavailable
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.queue import Queue, QueueDamaged, QueueError, Queues
from main_server.keys.service import Keyring
from main_server.messages.edge.service import list_queues
from main_server.messages.reconcile.leadership import Leadership
from main_server.messages.reconcile.to_ledger import Drained, ToLedger
from main_server.messages.reconcile.to_queue import ToQueue
from main_server.store.database import Ledger

TICK_SECONDS = 0.25


class ReconcileMetrics:
    """The reconciler's metrics, made once the metrics folder is known, hence not at import."""

    def __init__(self) -> None:
        self.enqueued = Counter(
            "gatepost_reconciler_enqueued", "Messages that the ledger had and the queue had lost"
        )
        self.registered = Counter(
            "gatepost_reconciler_registered", "Messages that only the queue had"
        )
        self.conflicts = Counter(
            "gatepost_reconciler_conflicts",
            "Messages that only the queue had, under an Idempotency-Key that another has",
        )
        self.leads = Gauge(
            "gatepost_reconciler_leads", "Whether this one leads", multiprocess_mode="livesum"
        )


class Reconciler:
    def __init__(
        self, log: Log, ledger: Ledger, keyring: Keyring, queues: Queues, clock: Clock
    ) -> None:
        self._log = log
        self._ledger = ledger
        self._queues = queues
        self._leadership = Leadership()
        self._to_queue = ToQueue(ledger, keyring, queues, clock)
        self._to_ledger = ToLedger(ledger, keyring, clock)
        self._metrics = ReconcileMetrics()
        self._epochs: dict[str, list[bytes]] = {}
        self._sweeping = False
        self._silent = False

    async def loop(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            in_haste = False
            try:
                in_haste = await self._leads() and await self._turn()
                self._heard()
            except (SQLAlchemyError, QueueError, Unavailable) as error:
                self._missed(error)
            await pause(stop, 0 if in_haste else TICK_SECONDS)
        await self._ledger.run(self._leadership.release)

    async def _leads(self) -> bool:
        leads = await self._ledger.run(self._leadership.held)
        self._metrics.leads.set(leads)
        if not leads:
            self._epochs.clear()
        return leads

    async def _turn(self) -> bool:
        """Take a step in both directions; return whether the next is to follow at once.

        However long a sweep takes, what only Redis has does not wait for its end.
        """
        names = await self._ledger.run(list_queues)
        for name in {self._queues.full_name(one) for one in names}:
            queue = self._queues.named(name)
            epochs = await queue.epochs()
            if self._epochs.get(name) != epochs:
                self._to_queue.start_over()
                self._sweeping = True
            await self._drain(name, queue)
            self._epochs[name] = epochs
        at_end = await self._step()
        self._sweeping = self._sweeping and not at_end
        return self._sweeping

    async def _drain(self, name: str, queue: Queue) -> None:
        """Drain one queue; what is damaged there holds up no other one."""
        try:
            self._tell_drained(name, await self._to_ledger.drain(queue))
        except QueueDamaged as error:
            self._log.error("reconciler.damaged", queue=name, reason=str(error))

    def _tell_drained(self, name: str, drained: Drained) -> None:
        self._metrics.registered.inc(drained.registered)
        self._metrics.conflicts.inc(drained.conflicts)
        if drained.registered:
            self._log.info("reconciler.registered", queue=name, count=drained.registered)
        if drained.conflicts:
            self._log.warning("reconciler.conflicts", queue=name, count=drained.conflicts)

    async def _step(self) -> bool:
        enqueued, at_end = await self._to_queue.step()
        self._metrics.enqueued.inc(enqueued)
        if enqueued:
            self._log.warning("reconciler.enqueued", count=enqueued)
        return at_end

    def _heard(self) -> None:
        if self._silent:
            self._log.info("reconciler.resumed")
        self._silent = False

    def _missed(self, error: Exception) -> None:
        """Say once that a turn failed. What was not finished is begun again: nothing is known of
        the epochs."""
        if not self._silent:
            self._log.warning("reconciler.interrupted", reason=type(error).__name__)
        self._silent = True
        self._epochs.clear()
