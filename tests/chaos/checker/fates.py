"""What became of each message: who promised what, and what is left of it. Facts, no judgement."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from tests.chaos.checker.evidence import ACCEPTED, Evidence, Left, Post, Row


class Fate(Enum):
    DELIVERED = "delivered"
    FAILED = "failed"
    ERASED = "erased"
    WAITING = "waiting"
    GONE = "gone"


@dataclass(slots=True)
class Message:
    """One text that clients posted, however often, and every trace of it."""

    marker: str
    key: str | None
    expect: str
    posts: list[Post] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    @property
    def promised(self) -> dict[str, list[Post]]:
        """The ids under which clients were told that it is safe, and when they were."""
        found: dict[str, list[Post]] = {}
        for post in self.posts:
            if post.outcome == ACCEPTED and post.message_id:
                found.setdefault(post.message_id, []).append(post)
        return found


@dataclass(slots=True)
class Fates:
    """All messages by marker, all rows by id, and what belongs to nobody."""

    messages: dict[str, Message] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    stray: list[tuple[str, str]] = field(default_factory=list)
    """Ids that nobody posted, and where they were found."""

    def of(self, message_id: str) -> Fate:
        """Where an id stands; a duplicate stands where the first one stands."""
        row = self.rows.get(message_id)
        for _ in range(len(self.rows)):
            if row is None or row.duplicate_of is None:
                break
            row = self.rows.get(row.duplicate_of)
        if row is None:
            return Fate.WAITING if self._can_be_had(message_id) else Fate.GONE
        return Fate.WAITING if row.status == "queued" else Fate(row.status)

    def _can_be_had(self, message_id: str) -> bool:
        """From Redis, with its text: a name in a list, of which no text is left, is nothing."""
        left = self.left.get(message_id)
        return left is not None and "payload" in left.places

    def expected(self, expect: str) -> Iterator[Message]:
        return (message for message in self.messages.values() if message.expect == expect)


def gather(evidence: Evidence) -> Fates:
    fates = Fates(rows={row.message_id: row for row in evidence.rows}, left=dict(evidence.left))
    owners: dict[str, str] = {}
    for post in evidence.posts:
        message = fates.messages.setdefault(
            post.marker, Message(post.marker, post.key, post.expect)
        )
        message.posts.append(post)
        for message_id in (post.message_id, post.injected_id):
            if message_id:
                owners[message_id] = post.marker
    for row in evidence.rows:
        _place(fates, row, _owner(row.marker, row.message_id, row.duplicate_of, owners))
    for left in evidence.left.values():
        marker = left.marker or owners.get(left.message_id)
        if marker in fates.messages:
            fates.messages[marker].left.append(left)
        else:
            fates.stray.append((left.message_id, "in Redis, and nobody posted it"))
    return fates


def _owner(
    marker: str | None, message_id: str, original: str | None, owners: dict[str, str]
) -> str | None:
    """By what was in it; by what a client was told; a duplicate by its original."""
    found = marker or owners.get(message_id)
    if found is None and original is not None:
        found = owners.get(original)
    if found is not None:
        owners.setdefault(message_id, found)  # what Redis still has of it is the same one's
    return found


def _place(fates: Fates, row: Row, marker: str | None) -> None:
    if marker in fates.messages:
        fates.messages[marker].rows.append(row)
        return
    original = fates.rows.get(row.duplicate_of) if row.duplicate_of else None
    if original is not None and original.marker in fates.messages:
        fates.messages[original.marker].rows.append(row)
    else:
        fates.stray.append((row.message_id, f"a {row.status} row that nobody posted"))
