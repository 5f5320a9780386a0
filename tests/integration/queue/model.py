"""What the engine should do, in plain Python: slow, small and easy to believe.

It says what is allowed, not how it is done: which of several priorities goes first is left open
here, because it has tests of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gatepost.queue import Delivery, Enqueued, Entry, Reason
from gatepost.queue.keys import ALONE, READY_LISTS

EXPIRY_TOLERANCE_MS = 30_000
OVERDUE_US = 250_000


@dataclass
class Message:
    """A message that isn't settled."""

    id: bytes
    payload: bytes
    priority: int
    attempts: int
    generation: int
    enqueued: int
    due: int
    expires: int
    key: bytes | None
    exposed: bool
    place: str = "in line"
    tag: bytes = b""
    ends: int = 0
    counted: bool = False
    alone: bool = False
    look_again: int = 0


@dataclass
class Model:
    """One partition. `now` is in milliseconds."""

    now: int
    messages: dict[bytes, Message] = field(default_factory=dict)
    ready: dict[int, list[bytes]] = field(default_factory=lambda: {n: [] for n in READY_LISTS})
    lines: dict[bytes, list[bytes]] = field(default_factory=dict)
    dead: dict[bytes, Reason] = field(default_factory=dict)

    def enqueue(self, entry: Entry) -> Enqueued:
        known = self.messages.get(entry.id)
        if known is not None and known.generation >= entry.generation:
            return Enqueued.ALREADY_THERE
        if known is not None:
            self.forget(known)
        self.dead.pop(entry.id, None)
        message = Message(
            entry.id,
            entry.payload,
            entry.priority,
            entry.attempts,
            entry.generation,
            max(self.now, entry.due_at or 0),
            entry.due_at or 0,
            entry.expires_at or 0,
            entry.ordering_key,
            entry.exposed,
        )
        self.messages[entry.id] = message
        if message.key is not None:
            self.lines.setdefault(message.key, []).append(message.id)
        if self.may_go(message):
            self.let_go(message)
        return Enqueued.NEW if known is None else Enqueued.SUPERSEDED

    def may_go(self, message: Message) -> bool:
        return message.key is None or self.lines[message.key][0] == message.id

    def let_go(self, message: Message) -> None:
        if message.due > self.now:
            message.place = "delayed"
        else:
            message.place = "ready"
            self.list_of(message).append(message.id)

    def list_of(self, message: Message) -> list[bytes]:
        return self.ready[ALONE if message.alone else message.priority]

    def put_back(self, message: Message) -> None:
        message.place = "ready" if self.may_go(message) else "in line"
        if message.place == "ready" and message.counted:
            self.list_of(message).insert(0, message.id)
        elif message.place == "ready":
            self.list_of(message).append(message.id)

    def forget(self, message: Message) -> None:
        if message.place == "ready":
            self.list_of(message).remove(message.id)
        del self.messages[message.id]
        if message.key is None:
            return
        line = self.lines[message.key]
        was_first = line[0] == message.id
        line.remove(message.id)
        if not line:
            del self.lines[message.key]
        elif was_first and self.messages[line[0]].place == "in line":
            self.let_go(self.messages[line[0]])

    def reserved(self, deliveries: Sequence[Delivery], limit: int, lease_ms: int) -> None:
        """Check that this batch could be reserved, and reserve it."""
        batch = [self.messages[delivery.id] for delivery in deliveries]
        for ids in self.ready.values():
            taken = [message.id for message in batch if message.id in ids]
            assert taken == ids[: len(taken)], "out of order"
            del ids[: len(taken)]
        alone = any(message.alone for message in batch)
        assert len(batch) == 1 or not alone, "not alone"
        if not batch:
            assert not any(self.ready.values()), "there were some"
        elif len(batch) < limit and not alone:
            others = [ids for number, ids in self.ready.items() if number != ALONE]
            assert not any(others), "fewer than there were"
        for message in batch:
            message.attempts += 1
            message.counted = True
        self._lease(batch, deliveries, lease_ms)

    def expired(self, deliveries: Sequence[Delivery], lease_ms: int) -> None:
        """Check that exactly these could be taken to be expired, and take them."""
        batch = [self.messages[delivery.id] for delivery in deliveries]
        for message in batch:
            assert message.place != "leased", "leased twice"
            assert 0 < message.expires <= self.now, "not expired"
            if message.place == "ready":
                self.list_of(message).remove(message.id)
            message.counted = False
        for message in self.messages.values():
            if message in batch or not 0 < message.expires <= self.now:
                continue
            if message.place == "leased":
                overdue = self.now * 1000 + OVERDUE_US
                message.look_again = max(message.ends, overdue) // 1000 + 1
            else:
                latest = max(message.expires + EXPIRY_TOLERANCE_MS, message.look_again)
                assert self.now < latest, "not seen to have expired"
        self._lease(batch, deliveries, lease_ms)
        for message in batch:
            message.look_again = message.ends // 1000 + 1

    def _lease(
        self, batch: Iterable[Message], deliveries: Sequence[Delivery], lease_ms: int
    ) -> None:
        for n, (message, delivery) in enumerate(zip(batch, deliveries, strict=True)):
            message.place = "leased"
            message.tag = delivery.tag
            message.ends = (self.now + lease_ms) * 1000 + n
            assert delivery.payload == message.payload
            assert delivery.attempts == message.attempts, "attempts wrong"
            assert delivery.generation == message.generation
            assert delivery.priority == message.priority
            assert delivery.enqueued_at == message.enqueued
            assert delivery.deadline == self.now + lease_ms

    def holder(self, delivery: Delivery) -> Message | None:
        """Return the message if this delivery still holds it."""
        message = self.messages.get(delivery.id)
        held = message is not None and message.place == "leased" and message.tag == delivery.tag
        return message if held else None

    def acknowledge(self, delivery: Delivery) -> bool:
        message = self.holder(delivery)
        if message is not None:
            self.forget(message)
        return message is not None

    def dead_letter(self, delivery: Delivery, reason: Reason) -> bool:
        if not self.acknowledge(delivery):
            return False
        self.dead[delivery.id] = reason
        return True

    def retry_later(self, delivery: Delivery, delay_ms: int) -> bool:
        message = self.holder(delivery)
        if message is None:
            return False
        message.due = self.now + delay_ms
        message.alone = False
        message.place = "delayed" if self.may_go(message) else "in line"
        return True

    def give_back(self, deliveries: Sequence[Delivery]) -> list[bool]:
        answers = []
        for delivery in reversed(deliveries):
            message = self.holder(delivery)
            answers.append(message is not None)
            if message is not None:
                message.attempts -= message.counted
                self.put_back(message)
        return answers[::-1]

    def extend(self, deliveries: Sequence[Delivery], lease_ms: int) -> list[bool]:
        held = [self.holder(delivery) for delivery in deliveries]
        for n, message in enumerate(each for each in held if each is not None):
            message.ends = (self.now + lease_ms) * 1000 + n
        return [message is not None for message in held]

    def release_due(self) -> int:
        due = [m for m in self.messages.values() if m.place == "delayed" and m.due <= self.now]
        for message in sorted(due, key=lambda message: (message.due, message.id)):
            message.due = 0
            self.let_go(message)
        return len(due)

    def reclaim(self) -> int:
        over = [m for m in self.messages.values() if m.place == "leased"]
        over = [message for message in over if message.ends < self.now * 1000]
        for message in sorted(over, key=lambda message: message.ends):
            message.alone, message.counted = True, False
            self.put_back(message)
        return len(over)

    def remove(self, ids: Sequence[bytes]) -> list[bool]:
        answers = []
        for id_ in ids:
            message = self.messages.get(id_)
            answers.append(message is not None)
            self.dead.pop(id_, None)
            if message is not None:
                self.forget(message)
        return answers

    def purge(self) -> int:
        count = len(self.messages)
        self.messages, self.lines = {}, {}
        self.ready = {n: [] for n in READY_LISTS}
        return count
