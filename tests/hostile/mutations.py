"""Inputs that nobody would send by mistake, made of good ones: the same for the same seed."""

import random
import struct
from collections.abc import Callable, Iterator

LONGEST = 64 * 1024
DEPTHS = (2, 60, 200, 500, 900, 990, 1_000, 1_100, 5_000, 20_000)
NUMBERS = (
    b"-1",
    b"0",
    b"1e400",
    b"-1e400",
    b"NaN",
    b"Infinity",
    b"9" * 25,
    b"9" * 5_000,
    b"18446744073709551616",
    b"1.5",
    b"0x10",
    "٣".encode(),
)
ODD = (
    b"",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\xc0\xaf",
    b"\xef\xbb\xbf",
    b"\r\n\r\n",
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"\x85",
    b"\xe2\x80\xa8",
    b"*" * 300,
    b"${",
    b"&a [*a]",
    b"name*=utf-8''x",
    b"%ff",
    b"%00",
)
_DIGITS, _QUOTES = b"0123456789", b"\"'"

Change = Callable[[random.Random, bytes], bytes]


def mutations(seed: int, good: bytes, count: int) -> Iterator[bytes]:
    """So many, one after the other by each kind of change."""
    chance = random.Random(f"{seed}:{len(good)}:{good[:40]!r}")
    for number in range(count):
        yield CHANGES[number % len(CHANGES)](chance, good)[:LONGEST]


def _noise(chance: random.Random, _good: bytes) -> bytes:
    return chance.randbytes(chance.choice((0, 1, 2, 7, 40, 300, 4000)))


def _flipped(chance: random.Random, good: bytes) -> bytes:
    changed = bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 2, 8)) if good else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(chance: random.Random, good: bytes) -> bytes:
    return good[: chance.randrange(len(good) + 1)]


def _without(chance: random.Random, good: bytes) -> bytes:
    begin, end = _span(chance, good)
    return good[:begin] + good[end:]


def _twice(chance: random.Random, good: bytes) -> bytes:
    begin, end = _span(chance, good)
    return good[:end] + good[begin:end] * chance.choice((1, 2, 50)) + good[end:]


def _odd(chance: random.Random, good: bytes) -> bytes:
    begin, end = _span(chance, good)
    return good[:begin] + chance.choice(ODD) + good[end if chance.random() < 0.5 else begin :]


def _number(chance: random.Random, good: bytes) -> bytes:
    """A number of it is another one."""
    places = [at for at, byte in enumerate(good) if byte in _DIGITS]
    if not places:
        return good + chance.choice(NUMBERS)
    begin = end = chance.choice(places)
    while end < len(good) and good[end] in _DIGITS:
        end += 1
    return good[:begin] + chance.choice(NUMBERS) + good[end:]


def _value(chance: random.Random, good: bytes) -> bytes:
    """What stands between two quotes is something else, or is no text any more."""
    quotes = [at for at, byte in enumerate(good) if byte in _QUOTES]
    if len(quotes) < 2:
        return _odd(chance, good)
    at = chance.randrange(len(quotes) - 1)
    begin, end = quotes[at] + 1, quotes[at + 1]
    return good[:begin] + chance.choice((*ODD, *NUMBERS)) + good[end:]


def _nested(chance: random.Random, good: bytes) -> bytes:
    """Nested by itself, around it or within it; with and without its end."""
    depth = chance.choice(DEPTHS)
    opening, closing = chance.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"- ", b""), (b"\x91", b""), (b"\x30\x80", b"\0\0"))
    )
    inner = chance.choice((b"0", b"", good))
    whole = opening * depth + inner + closing * chance.choice((0, depth))
    if chance.random() < 0.4:
        begin, end = _span(chance, good)
        return good[:begin] + whole + good[end:]
    return whole


def _length(chance: random.Random, good: bytes) -> bytes:
    """Somewhere stands a length, as DER and MessagePack write it, that isn't the one."""
    kinds = (b"\x84", b"\x82", b"\xdd", b"\xc6", b"\x30\x84", b"")
    size = struct.pack(">I", chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
    at = chance.randrange(len(good) + 1)
    return good[:at] + chance.choice(kinds) + size + good[at:]


def _span(chance: random.Random, good: bytes) -> tuple[int, int]:
    begin = chance.randrange(len(good) + 1)
    return begin, min(len(good), begin + chance.choice((0, 1, 4, 20, 200)))


CHANGES: tuple[Change, ...] = (
    _noise,
    _flipped,
    _cut,
    _without,
    _twice,
    _odd,
    _number,
    _value,
    _nested,
    _length,
    _flipped,
    _value,
)
