"""The values that go into the engine and come out of it.

Ids are 16 bytes, payloads are bytes that the engine never looks into. Times are Unix milliseconds.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum

from gatepost.queue.keys import HIGHEST_PRIORITY, LOWEST_PRIORITY

ID_SIZE = 16
DEFAULT_PRIORITY = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """A message to be enqueued. An id must always come with the same ordering key."""

    id: bytes
    payload: bytes
    priority: int = DEFAULT_PRIORITY
    due_at: int | None = None
    expires_at: int | None = None
    ordering_key: bytes | None = None
    attempts: int = 0
    generation: int = 0
    exposed: bool = False

    def __post_init__(self) -> None:
        if len(self.id) != ID_SIZE:
            raise ValueError(f"an id has {ID_SIZE} bytes")
        if not LOWEST_PRIORITY <= self.priority <= HIGHEST_PRIORITY:
            raise ValueError(f"a priority is from {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")


class Enqueued(IntEnum):
    """The outcome of enqueuing an entry."""

    ALREADY_THERE = 0
    NEW = 1
    SUPERSEDED = 2
    """The entry took the place of an earlier generation."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message under a lease. `tag` proves the lease: whoever settles the message must name it."""

    id: bytes
    payload: bytes
    tag: bytes
    attempts: int
    generation: int
    priority: int
    enqueued_at: int
    """The time since when it could have been delivered: when it was enqueued, or due."""
    expires_at: int | None
    deadline: int
    partition: int


class Reason(IntEnum):
    """The reason why a message was given up. The numbers are stored: never change one."""

    ATTEMPTS_USED = 1
    REFUSED = 2
    EXPIRED = 3
    UNREADABLE = 4
    DISCARDED = 5
    KEY_CONFLICT = 6


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The record that is kept of a message that was given up."""

    id: bytes
    reason: Reason
    died_at: int


class Place(Enum):
    """The place where a message is."""

    READY = "ready"
    LEASED = "leased"
    DELAYED = "delayed"
    IN_LINE = "in line"
    """The message waits behind another one of its ordering key."""
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Peeked:
    """The state of a message. What a dead one was like isn't known any more: its fields are 0."""

    id: bytes
    place: Place
    attempts: int = 0
    generation: int = 0
    priority: int = 0
    enqueued_at: int = 0
    due_at: int | None = None
    leased_until: int | None = None
    expires_at: int | None = None
    dead: DeadLetter | None = None


@dataclass(frozen=True, slots=True)
class Exposed:
    """A message that only Redis has."""

    id: bytes
    payload: bytes
    attempts: int
    generation: int
    priority: int
    enqueued_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class Stats:
    """The numbers of messages by where they are."""

    ready: dict[int, int]
    """Ready messages by priority."""
    alone: int
    """Ready messages too: those that lost a lease, each to be reserved by itself."""
    leased: int
    delayed: int
    in_line: int
    dead: int
    exposed: int
    oldest_ms: int
    """The age of the oldest of those at the head of a ready list."""

    @property
    def reservable(self) -> int:
        """The number of messages that may be reserved now."""
        return sum(self.ready.values()) + self.alone

    @property
    def waiting(self) -> int:
        """The number of messages that aren't settled."""
        return self.reservable + self.leased + self.delayed + self.in_line
