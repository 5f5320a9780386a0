"""Packs messages for the scripts and reads their replies: facts go in, records come out.

The counterpart of lua/shared/record.lua; the two change together.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gatepost.queue.errors import QueueDamaged
from gatepost.queue.keys import PRIORITIES
from gatepost.queue.messages import (
    ID_SIZE,
    DeadLetter,
    Delivery,
    Entry,
    Exposed,
    Peeked,
    Place,
    Reason,
    Stats,
)

ORDERED = 1
EXPOSE = 128
NO_LINE = bytes(16)

_FACTS = struct.Struct(">BBIIQQ16s")
_RECORD = struct.Struct(">BBIIQQ8s")
_ORDERED_SIZE = 64


def line_of(ordering_key: bytes) -> bytes:
    """Return the line of an ordering key: of one length, whatever the key's."""
    return hashlib.blake2b(ordering_key, digest_size=16).digest()


def partition_of(entry: Entry, partitions: int) -> int:
    """Return an entry's partition: by its ordering key if it has one, otherwise by its id."""
    if entry.ordering_key is None:
        return partition_of_id(entry.id, partitions)
    return zlib.crc32(line_of(entry.ordering_key)) % partitions


def partition_of_id(id_: bytes, partitions: int) -> int:
    """Return the partition of an id without ordering key."""
    return zlib.crc32(id_) % partitions


def pack_entry(entry: Entry) -> tuple[bytes, bytes, bytes]:
    """Return what enqueue.lua is given of an entry."""
    ordered = entry.ordering_key is not None
    facts = _FACTS.pack(
        (ORDERED if ordered else 0) | (EXPOSE if entry.exposed else 0),
        entry.priority,
        entry.attempts,
        entry.generation,
        entry.due_at or 0,
        entry.expires_at or 0,
        line_of(entry.ordering_key) if entry.ordering_key is not None else NO_LINE,
    )
    return entry.id, facts, entry.payload


@contextmanager
def undamaged() -> Iterator[None]:
    """Let nothing but QueueDamaged out for what isn't as the scripts have written it: whoever can
    write to Redis must not end a worker by it."""
    try:
        yield
    except (struct.error, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise QueueDamaged() from None


def payload_of(body: bytes) -> bytes:
    """Return the payload behind the record that it is stored with; nothing where there is none."""
    return body and body[_ORDERED_SIZE if body[0] & ORDERED else _RECORD.size :]


def _checked(id_: bytes) -> bytes:
    if len(id_) != ID_SIZE:
        raise ValueError
    return id_


def _threes(reply: Sequence[Any], first: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    parts = iter(reply[first:])
    return zip(parts, parts, parts, strict=True)


@undamaged()
def read_deliveries(reply: Sequence[Any], lease_ms: int, partition: int) -> list[Delivery]:
    """Return the deliveries of a reply of reserve.lua or expire.lua."""
    deadline = reply[0] + lease_ms
    deliveries = []
    for id_, record, body in _threes(reply, 2):
        _, priority, attempts, generation, enqueued_at, expires, tag = _RECORD.unpack_from(record)
        deliveries.append(
            Delivery(
                _checked(id_),
                payload_of(body),
                tag,
                attempts,
                generation,
                priority,
                enqueued_at,
                expires or None,
                deadline,
                partition,
            )
        )
    return deliveries


@undamaged()
def read_exposed(reply: Sequence[Any]) -> list[Exposed]:
    """Return the messages of a reply of exposed.lua."""
    found = []
    for id_, record, body in _threes(reply, 0):
        _, priority, attempts, generation, enqueued_at, expires, _ = _RECORD.unpack_from(record)
        found.append(
            Exposed(
                _checked(id_),
                payload_of(body),
                attempts,
                generation,
                priority,
                enqueued_at,
                expires or None,
            )
        )
    return found


@undamaged()
def read_dead_letter(id_: bytes, score: int) -> DeadLetter:
    """Return what an entry of the dead index says."""
    died_at, reason = divmod(score, 16)
    return DeadLetter(id_, Reason(reason), died_at)


@undamaged()
def read_peeked(ids: Sequence[bytes], reply: Sequence[Any]) -> list[Peeked | None]:
    """Return what a reply of peek.lua says of each id; None for one that isn't known."""
    parts = iter(reply)
    threes = zip(ids, parts, parts, parts, strict=True)
    return [_peeked(id_, *three) if three[0] else None for id_, *three in threes]


def _peeked(id_: bytes, place: bytes, record: bytes, when: bytes) -> Peeked:
    where = Place(place.decode())
    at = int(float(when)) if when else None
    if where is Place.DEAD:
        return Peeked(id_, where, dead=read_dead_letter(id_, at or 0))
    _, priority, attempts, generation, enqueued_at, expires, _ = _RECORD.unpack_from(record)
    return Peeked(
        id_,
        where,
        attempts,
        generation,
        priority,
        enqueued_at,
        due_at=at if where is Place.DELAYED else None,
        leased_until=at // 1000 if where is Place.LEASED and at else None,
        expires_at=expires or None,
    )


@undamaged()
def read_stats(reply: Sequence[int]) -> Stats:
    """Return what a reply of stats.lua says."""
    known, leased, delayed, dead, exposed, oldest, alone, *ready = reply
    return Stats(
        ready=dict(zip(PRIORITIES, ready, strict=True)),
        alone=alone,
        leased=leased,
        delayed=delayed,
        in_line=known - leased - delayed - alone - sum(ready),
        dead=dead,
        exposed=exposed,
        oldest_ms=oldest,
    )


def read_marks(reply: bytes) -> list[bool]:
    """Return a reply of '1' and '0' as a list."""
    return [mark == 49 for mark in reply]
