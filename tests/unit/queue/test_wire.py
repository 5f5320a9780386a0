"""What is packed for the scripts and read from them, and where a message belongs."""

import os
import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.queue import Delivery, Entry, Place, Reason
from gatepost.queue.wire import (
    pack_entry,
    partition_of,
    payload_of,
    read_dead_letter,
    read_deliveries,
    read_marks,
    read_peeked,
    read_stats,
)

ID = bytes(range(16))
TAG = b"12345678"


def record(flags: int = 0, tail: bytes = b"") -> bytes:
    return struct.pack(">BBIIQQ8s", flags, 7, 3, 2, 1000, 9000, TAG) + tail


def test_an_entry_as_the_script_reads_it() -> None:
    entry = Entry(ID, b"payload", 7, 5, 9, b"key", attempts=3, generation=2, exposed=True)

    id_, facts, payload = pack_entry(entry)

    assert (id_, payload) == (ID, b"payload")
    flags, priority, attempts, generation, due, expires, line = struct.unpack(">BBIIQQ16s", facts)
    assert (flags, priority, attempts, generation, due, expires) == (129, 7, 3, 2, 5, 9)
    assert line != bytes(16)


def test_what_is_not_said_is_zero() -> None:
    _, facts, _ = pack_entry(Entry(ID, b""))

    assert struct.unpack(">BBIIQQ16s", facts) == (0, 5, 0, 0, 0, 0, bytes(16))


@pytest.mark.parametrize(("flags", "tail"), [(0, b""), (1, bytes(30))])
@given(payload=st.binary())
def test_a_payload_comes_out_as_it_went_in(flags: int, tail: bytes, payload: bytes) -> None:
    assert payload_of(record(flags, tail) + payload) == payload


def test_a_delivery_is_read() -> None:
    reply = [5000, 0, ID, record(), record() + b"payload"]

    assert read_deliveries(reply, 30_000, 4) == [
        Delivery(ID, b"payload", TAG, 3, 2, 7, 1000, 9000, 35_000, 4)
    ]


def test_a_dead_letter_is_read_from_its_score() -> None:
    letter = read_dead_letter(ID, 1_800_000_000_000 * 16 + Reason.EXPIRED)

    assert (letter.died_at, letter.reason) == (1_800_000_000_000, Reason.EXPIRED)


def test_an_unknown_id_is_peeked_as_nothing() -> None:
    known, unknown = read_peeked([ID, ID], [b"ready", record(), b"", b"", b"", b""])

    assert unknown is None
    assert known is not None
    assert (known.place, known.expires_at) == (Place.READY, 9000)


def test_what_is_in_no_other_place_is_in_line() -> None:
    stats = read_stats([20, 1, 2, 3, 4, 5, 3, *[1] * 10])

    assert stats.in_line == 20 - 1 - 2 - 3 - 10
    assert stats.waiting == 20


def test_marks_are_read() -> None:
    assert read_marks(b"1011") == [True, False, True, True]


@given(key=st.binary(), id_=st.binary(min_size=16, max_size=16), partitions=st.integers(1, 64))
def test_an_ordering_key_decides_where_a_message_belongs(
    key: bytes, id_: bytes, partitions: int
) -> None:
    ordered = Entry(id_, b"", ordering_key=key)

    assert partition_of(ordered, partitions) == partition_of(
        Entry(os.urandom(16), b"", ordering_key=key), partitions
    )
    assert 0 <= partition_of(ordered, partitions) < partitions
    assert 0 <= partition_of(Entry(id_, b""), partitions) < partitions


def test_ids_that_begin_alike_are_spread() -> None:
    """As those of one millisecond do."""
    ids = [bytes(8) + n.to_bytes(8, "big") for n in range(4000)]

    spread = Counter(partition_of(Entry(id_, b""), 4) for id_ in ids)

    assert min(spread.values()) > 800


@pytest.mark.parametrize("wrong", [{"id": b"short"}, {"priority": 0}, {"priority": 11}], ids=str)
def test_an_entry_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"an id has|a priority is"):
        Entry(**{"id": ID, "payload": b"", **wrong})  # type: ignore[arg-type]
