"""Bodies that are made to be expensive, each by the name of its shape; the same for the same seed.

`DOCUMENTS` are as long as a single post or an item may be. `BODIES` are as long as a batch may be:
arrays and lines (NDJSON), of such documents too. None is a message that could be accepted but for
those whose name says "honest".
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

JSON, NDJSON = b"application/json", b"application/x-ndjson"
DOCUMENT_BYTES, BODY_BYTES, ITEMS = 16 * 1024, 16 * 1024 * 1024, 1000
MESSAGE = {"sender_number": "+491700000000", "message_body": "hello"}

Make = Callable[[random.Random, int], bytes]


@dataclass(frozen=True, slots=True)
class Body:
    shape: str
    media_type: bytes
    content: bytes


def repeated(begin: bytes, part: bytes, end: bytes = b"") -> Make:
    """So many of a part as fit."""

    def make(_: random.Random, size: int) -> bytes:
        count = max(0, size - len(begin) - len(end)) // len(part)
        return begin + part * count + end

    return make


def _nested(opening: bytes, inner: bytes, closing: bytes) -> Make:
    def make(_: random.Random, size: int) -> bytes:
        depth = (size - len(inner)) // (len(opening) + len(closing))
        return opening * depth + inner + closing * depth

    return make


def _fields(name: Callable[[int], str], value: str = "0") -> Make:
    """One object with as many fields as fit."""

    def make(_: random.Random, size: int) -> bytes:
        parts, length, n = [], 2, 0
        while length < size - 80:
            parts.append(f'"{name(n)}":{value}')
            length, n = length + len(parts[-1].encode()) + 1, n + 1
        return ("{" + ",".join(parts) + "}").encode()

    return make


def _padded(text: str) -> Make:
    """A good message but for its body, as long as it fits."""

    def make(_: random.Random, size: int) -> bytes:
        room = size - 80
        return json.dumps(
            MESSAGE | {"message_body": text * (room // len(text.encode()))}, ensure_ascii=False
        ).encode()[:size]

    return make


def _noise(alphabet: bytes) -> Make:
    return lambda chance, size: bytes(chance.choices(alphabet, k=size))


def _comb(_: random.Random, size: int) -> bytes:
    """Deep as is allowed, again and again."""
    tooth = b"[" * 14 + b"]" * 14 + b","
    return b'{"a":[' + tooth * (size // len(tooth) - 1) + b"0]}"


def _as_many_parts_as_allowed(_: random.Random, size: int) -> bytes:
    text = b'{"a":[' + b"{}," * 120 + b"{}]}"
    return text + b" " * (size - len(text))


DOCUMENTS: dict[str, Make] = {
    "nested arrays": _nested(b"[", b"", b"]"),
    "nested objects": _nested(b'{"a":', b"1", b"}"),
    "arrays that never end": repeated(b"", b"["),
    "objects that never end": repeated(b"", b'{"a":'),
    "deep again and again": _comb,
    "empty arrays": repeated(b'{"a":[', b"[],", b"0]}"),
    "empty objects": repeated(b'{"a":[', b"{},", b"0]}"),
    "as many parts as allowed": _as_many_parts_as_allowed,
    "zeros": repeated(b"[", b"0,", b"0]"),
    "empty strings": repeated(b"[", b'"",', b"0]"),
    "brackets in a string": repeated(b'{"message_body":"', b"[{", b'"}'),
    "commas in a string": repeated(b'{"message_body":"', b",", b'"}'),
    "escaped letters": repeated(b'{"message_body":"', b"\\u0041", b'"}'),
    "escaped quotes": repeated(b'{"message_body":"', b'\\"', b'"}'),
    "escaped quotes that never end": repeated(b"[" * 17 + b'"', b'\\"'),
    "backslashes": repeated(b"[" * 17 + b'"', b"\\"),
    "quotes": repeated(b"[" * 17, b'"'),
    "half a pair at the end": repeated(b'{"message_body":"', "ж".encode(), b'\\ud800"}'),
    "whole pairs": repeated(b'{"message_body":"', b"\\ud83d\\ude00", b'"}'),
    "a huge integer": repeated(b'{"a":', b"7", b"}"),
    "a huge fraction": repeated(b'{"a":0.', b"7", b"}"),
    "a huge exponent": repeated(b'{"a":1e', b"7", b"}"),
    "many large integers": repeated(b"[", b"9" * 4000 + b",", b"0]"),
    "one name again and again": _fields(lambda _: "a"),
    "many names": _fields(lambda n: f"a{n}"),
    "many plain names": _fields(lambda n: "a" * (n % 60 + 1) + chr(97 + n % 26)),
    "names that differ in their ends": _fields(lambda n: "a" * 50 + str(n)),
    "names in escapes": _fields(lambda n: f"\\u0061{n}"),
    "a long name": repeated(b'{"', b"a", b'":0}'),
    "white space": repeated(b"", b" "),
    "white space before": repeated(b"", b" ", b"{}"),
    "white space after": repeated(b"{}", b"\n"),
    "zero bytes": repeated(b"", b"\0"),
    "bytes that are no UTF-8": repeated(b'"', b"\xff"),
    "no UTF-8 at the end": repeated(b'{"message_body":"', "ж".encode(), b'\xff"}'),
    "letters of four bytes": _padded("\U0001f600"),
    "a blank body": _padded(" \u2003"),
    "a number of many digits": repeated(b'{"message_body":"a","sender_number":"+', b"7", b'"}'),
    "a moment of many digits": repeated(b'{"metadata":{"timestamp":"2', b"0", b'"}}'),
    "NaN": repeated(b"[", b"NaN,", b"0]"),
    "noise": lambda chance, size: chance.randbytes(size),
    "noise of marks": _noise(b'[]{}:,"\\0 \n'),
    "noise of quotes": _noise(b'"\\u0d8'),
}


def _honest(_: random.Random, size: int) -> list[bytes]:
    text = "Grüße, [Nr. 7], " * 60
    return [json.dumps(MESSAGE | {"message_body": text}).encode()] * ITEMS


BODIES: dict[str, Make] = {
    "array: of nothing": repeated(b"[", b" ", b"]"),
    "array: white space between": repeated(b"[1", b" ", b",1]"),
    "array: zeros": DOCUMENTS["zeros"],
    "array: empty objects": repeated(b"[", b"{},", b"{}]"),
    "array: nested": DOCUMENTS["nested arrays"],
    "array: never ends": DOCUMENTS["arrays that never end"],
    "array: one string": repeated(b'["', b"a", b'"]'),
    "array: one string of escapes": repeated(b'["', b"\\u0416", b'"]'),
    "array: one object": lambda chance, size: (
        b"[" + DOCUMENTS["empty objects"](chance, size) + b"]"
    ),
    "array: letters of four bytes": repeated(b'["', "\U0001f600".encode(), b'"]'),
    "array: many elements of letters": repeated(b"[", b'"%b",' % ("ж" * 7000).encode(), b"0]"),
    "no array: zeros": DOCUMENTS["empty arrays"],
    "no array: white space": DOCUMENTS["white space"],
    "no array: noise": DOCUMENTS["noise"],
    "lines: empty": repeated(b"", b"\n"),
    "lines: white space": repeated(b"", b" " * 16_000 + b"\n"),
    "lines: one": repeated(b"", b"a"),
    "lines: zeros": repeated(b"", b"0\n"),
    "array: honest": lambda chance, size: b"[" + b",".join(_honest(chance, size)) + b"]",
    "lines: honest": lambda chance, size: b"\n".join(_honest(chance, size)),
}


def single(seed: int) -> Iterator[Body]:
    """What fits into a single post."""
    for shape, make in DOCUMENTS.items():
        yield Body(shape, JSON, make(random.Random(f"{seed}{shape}"), DOCUMENT_BYTES))


def batches(seed: int, items: int = ITEMS) -> Iterator[Body]:
    """What fits into a batch: shapes of its own, and each document as each of so many items."""
    for shape, make in BODIES.items():
        media_type = NDJSON if shape.startswith("lines") else JSON
        yield Body(shape, media_type, make(random.Random(f"{seed}{shape}"), BODY_BYTES))
    for shape, make in DOCUMENTS.items():
        item = make(random.Random(f"{seed}{shape}"), DOCUMENT_BYTES - 1).replace(b"\n", b" ")
        yield Body(f"array of: {shape}", JSON, b"[" + b",".join([item] * items) + b"]")
        yield Body(f"lines of: {shape}", NDJSON, b"\n".join([item] * items))


def mutants(seed: int) -> Iterator[Body]:
    """Without an end: good messages and small documents of each shape, each with some damage."""
    chance = random.Random(seed)
    honest = json.dumps(MESSAGE | {"metadata": {"timestamp": "2026-01-02T03:04:05Z"}}).encode()
    while True:
        shape = chance.choice(list(DOCUMENTS))
        size = chance.choice((60, 300, 2000))
        content = honest if chance.random() < 0.5 else DOCUMENTS[shape](chance, size)
        for _ in range(chance.randint(1, 4)):
            content = chance.choice(DAMAGES)(chance, content)
        yield Body(f"damaged: {shape}", JSON, content[:DOCUMENT_BYTES])


INSERTED = (b"[", b"]", b"{", b"}", b",", b":", b'"', b"\\", b"\\ud800", b"\0", b"null", b"-")


def _cut(chance: random.Random, content: bytes) -> bytes:
    begin, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:begin] + content[end:]


def _double(chance: random.Random, content: bytes) -> bytes:
    begin, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[begin:]


def _flip(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.randbytes(1) + content[place + 1 :]


def _insert(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(len(content) + 1)
    what = (
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b":",
        b'"',
        b"\\",
        b"\\ud800",
        b"\0",
        b"null",
        b"-",
        b"1e9",
    )
    return content[:place] + chance.choice(what) + content[place:]


DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (_cut, _double, _flip, _insert)
