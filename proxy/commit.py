"""The commit of one message in two stores (I1).

Both stores commit side by side: once one has committed, the other has 100 ms; then the sender is
told how durable the message is. A message that only Redis has is in the `exposed` set before its
202. If both refuse cleanly nothing is kept, and the sender is told so; if that can't be known, the
sender is told that.
"""

import asyncio
from enum import Enum, StrEnum
from typing import Any

from gatepost.errors import OutcomeUnknown, Unavailable
from gatepost.wire.contract import Registered, RegisterResult
from gatepost.wire.envelope import Envelope
from proxy.stores import LedgerStore, QueueStore, StoreRefused

SECOND_STORE_SECONDS = 0.1
FIRST_STORE_SECONDS = 2.0
"""The seconds that the ledger has when it is asked first, in sequence. If it takes longer, it can't
be asked (3.5)."""


class Durability(StrEnum):
    FULL = "full"
    QUEUE = "queue"
    LEDGER = "ledger"


class State(Enum):
    PENDING = "pending"
    COMMITTED = "committed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Commit:
    def __init__(self, queue: QueueStore, ledger: LedgerStore) -> None:
        self._queue = queue
        self._ledger = ledger

    @property
    def queue_problem(self) -> str | None:
        """The reason why the queue is being skipped; None when it isn't."""
        return self._queue.breaker.problem

    @property
    def ledger_problem(self) -> str | None:
        return self._ledger.breaker.problem

    @property
    def problem(self) -> str | None:
        """The reason why nothing can be accepted: one store is enough."""
        skipped = self.queue_problem and self.ledger_problem
        return "neither the queue nor the ledger answers" if skipped else None

    def queue_answers(self) -> None:
        self._queue.breaker.answers()

    def ledger_answers(self) -> None:
        self._ledger.breaker.answers()

    async def side_by_side(self, envelope: Envelope) -> Durability:
        """Commit to both stores; return once the message is safe, and say how safe."""
        return await _SideBySide(self._queue, self._ledger, envelope).done

    async def register(self, envelope: Envelope) -> RegisterResult | State:
        """Return the ledger's answer, or the state that it leaves the message in."""
        if not self._ledger.breaker.allows():
            return State.REFUSED
        answer = self._ledger.commit(envelope)
        await asyncio.wait({answer}, timeout=FIRST_STORE_SECONDS)
        if not answer.done():
            self._ledger.late()
            return State.UNKNOWN
        return answer.result() if _state(answer) is State.COMMITTED else _state(answer)

    async def enqueue(self, envelope: Envelope, *, exposed: bool) -> State:
        """Put the message into the queue. `exposed`: the ledger hasn't got it. Otherwise the queue
        is the second store, and may miss."""
        if not self._queue.breaker.allows():
            return State.REFUSED
        answer = self._queue.commit(envelope, exposed=exposed)
        await asyncio.wait({answer}, timeout=None if exposed else SECOND_STORE_SECONDS)
        if not answer.done():
            self._queue.late()
            return State.UNKNOWN
        return _state(answer)


def verdict(queue: State, ledger: State) -> Durability:
    """Return how durable a message is, by the final states of both stores; raise if it isn't."""
    if queue is State.COMMITTED:
        return Durability.FULL if ledger is State.COMMITTED else Durability.QUEUE
    if ledger is State.COMMITTED:
        return Durability.LEDGER
    if State.UNKNOWN in (queue, ledger):
        raise OutcomeUnknown()
    raise Unavailable()


class _SideBySide:
    """The two commits of one message, under way. Callbacks, not tasks: this is the hot path."""

    __slots__ = (
        "_declined",
        "_envelope",
        "_exposed",
        "_exposing",
        "_ledger",
        "_ledgers",
        "_loop",
        "_queue",
        "_queues",
        "_timer",
        "done",
    )

    def __init__(self, queue: QueueStore, ledger: LedgerStore, envelope: Envelope) -> None:
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Durability] = self._loop.create_future()
        self._envelope = envelope
        self._queues, self._ledgers = queue, ledger
        self._timer: asyncio.TimerHandle | None = None
        self._queue = self._ledger = State.REFUSED
        to_ledger = ledger.breaker.allows()
        self._exposed, self._exposing = not to_ledger, False
        self._declined = False
        if to_ledger:
            self._ledger = State.PENDING
            ledger.commit(envelope).add_done_callback(self._ledger_answered)
        if queue.breaker.allows():
            self._queue = State.PENDING
            queue.commit(envelope, exposed=self._exposed).add_done_callback(self._queue_answered)
        if self._queue is self._ledger is State.REFUSED:
            self._finish()

    def _queue_answered(self, future: "asyncio.Future[None]") -> None:
        self._queue = _state(future)
        if self._declined:
            self._withdraw()
        else:
            self._consider()

    def _ledger_answered(self, future: "asyncio.Future[RegisterResult]") -> None:
        self._ledger = _state(future)
        if self._ledger is State.COMMITTED and future.result().result is not Registered.REGISTERED:
            self._decline()
        else:
            self._consider()

    def _decline(self) -> None:
        """Refuse: the ledger can't take this message, now or ever, and nobody may promise it any
        more.

        A message that was promised already stays exposed, and leaves a row that says why (I1, I5).
        """
        self._ledger = State.REFUSED
        if self._timer is not None:
            self._timer.cancel()
        if not self.done.done():
            self._declined = True
            self._withdraw()
            self.done.set_exception(Unavailable())

    def _withdraw(self) -> None:
        """Take the message out of the queue, unless it is still on its way in: that could overtake
        the withdrawal."""
        if self._queue in (State.COMMITTED, State.UNKNOWN):
            self._queues.withdraw(self._envelope)

    def _consider(self) -> None:
        states = (self._queue, self._ledger)
        if self.done.done():
            return
        if State.PENDING not in states:
            self._finish()
        elif State.COMMITTED in states and self._timer is None:
            self._timer = self._loop.call_later(SECOND_STORE_SECONDS, self._second_is_late)

    def _second_is_late(self) -> None:
        late = self._queues if self._queue is State.PENDING else self._ledgers
        late.late()
        self._finish()

    def _finish(self) -> None:
        """Tell the sender. A message that only Redis has is exposed first."""
        if self._timer is not None:
            self._timer.cancel()
        if self.done.done():
            return
        try:
            durability = verdict(self._queue, self._ledger)
        except (Unavailable, OutcomeUnknown) as error:
            self.done.set_exception(error)
            return
        if durability is not Durability.QUEUE or self._exposed:
            self.done.set_result(durability)
        elif not self._exposing:  # the ledger may fail while that is under way
            self._exposing = True
            self._queues.expose(self._envelope).add_done_callback(self._was_exposed)

    def _was_exposed(self, future: "asyncio.Future[bool]") -> None:
        """Tell the sender if it was noted as exposed. One that isn't noted may have been delivered,
        or wiped: now the ledger alone can say."""
        if self.done.done():
            return
        if _state(future) is State.COMMITTED and future.result():
            self.done.set_result(Durability.QUEUE)
        else:
            self._queue = State.UNKNOWN
            self._consider()


def _state(future: "asyncio.Future[Any]") -> State:
    error = future.exception()
    if error is None:
        return State.COMMITTED
    return State.REFUSED if isinstance(error, StoreRefused) else State.UNKNOWN
