"""Posts of a message by a seed, each with the status that the documents promise for it.

Nothing of ours is imported: what a post is worth is decided here a second time, from docs/api.md,
by somebody who hasn't read admission. A post is built of good parts of which some are spoilt; the
worst one decides, in the order in which an edge can know them.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MEDIA, SIZE, KEY, MALFORMED, WRONG, STRANGER, GOOD = 415, 413, 422, 400, 422, 403, 202
MOST_BYTES = 16 * 1024
SHARE_OF_GOOD = 0.12
"""Few: what is accepted is kept, and a hostile partner has no interest in that."""


@dataclass(frozen=True)
class Post:
    """What is sent to `POST /api/v1/messages`, and the status that it must be answered with."""

    headers: dict[str, str]
    body: bytes
    status: int


Document = dict[str, Any]
SCHEDULES: tuple[Document, ...] = (
    {"priority": 1}, {"priority": 10}, {"ttl": 1}, {"ttl": 345_600}, {"ordering_key": "k" * 128},
    {"ordering_key": "\U0001f600"}, {"due_at": "2020-01-01T00:00:00Z", "ttl": 60},
)  # fmt: skip
SCHEDULED = {"priority", "ttl", "expires_at", "due_at", "ordering_key"}
WRONG_SCHEDULES: tuple[Document, ...] = (
    {"priority": 0}, {"priority": 11}, {"priority": "5"}, {"priority": 1.5}, {"priority": True},
    {"priority": None}, {"ttl": 0}, {"ttl": -1}, {"ttl": 345_601}, {"ttl": 10**30}, {"ttl": "60"},
    {"ttl": None}, {"ttl": 60.0}, {"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "soon"},
    {"expires_at": "9999-12-31T23:59:59Z"}, {"expires_at": 1}, {"due_at": "9999-12-31T23:59:59Z"},
    {"due_at": ""}, {"due_at": None}, {"ordering_key": ""}, {"ordering_key": "k" * 129},
    {"ordering_key": 1}, {"ordering_key": None}, {"ttl": 60, "expires_at": "2100-01-01T00:00:00Z"},
)  # fmt: skip


def posts(seed: int, count: int, client: str = "client_001") -> Iterator[Post]:
    """Yield so many posts, the same ones for the same seed."""
    draw = random.Random(seed)
    for _ in range(count):
        if draw.random() < SHARE_OF_GOOD:
            yield _post(_good(draw, client), GOOD)
        else:
            yield draw.choice(SPOILING)(draw, client)


def _post(document: Any, status: int, headers: dict[str, str] | None = None) -> Post:
    text = document if isinstance(document, bytes) else _spell(document)
    if len(text) > MOST_BYTES and status != MEDIA:
        status = SIZE
    return Post({"content-type": "application/json"} | (headers or {}), text, status)


def _spell(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8")


def _good(draw: random.Random, client: str) -> Document:
    document: Document = {"sender_number": _number(draw), "message_body": _text(draw)}
    if draw.random() < 0.5:
        document["metadata"] = {}
        if draw.random() < 0.5:
            document["metadata"]["client_id"] = client
        if draw.random() < 0.5:
            document["metadata"]["timestamp"] = "2025-10-20T12:34:56.789Z"
    if draw.random() < 0.2:
        document |= draw.choice(SCHEDULES)
    return document


def _number(draw: random.Random) -> str:
    digits = draw.choice("123456789") + "".join(draw.choices("0123456789", k=draw.randint(1, 14)))
    return f"+{digits}"


def _text(draw: random.Random, length: int | None = None) -> str:
    alphabet = draw.choice(
        ["abc xyz", "äöüß€", "\U0001f600\U0001f468‍", "\x01\x7f\x85z", '"\\/\b\t']
    )
    count = length or draw.choice([1, 2, 40, 160, 999, 1000])
    text = "".join(draw.choices(alphabet, k=count))
    return text if text.strip() else text[:-1] + "x"


def _wrong_number(draw: random.Random, client: str) -> Post:
    wrong: Any = draw.choice(
        [
            "", "+", "+0123", "123456", "+1", "+" + "1" * 16, "+12a4", "+123\n", " +1234", "+1 234",
            "+١٢٣٤٥", "+1234\0", "0049123", "++1234", "+12.34", "+1e10", "\ud7ff",
            "+" + "9" * 15_000,
            None, 12345, 1.5, True, [], {}, ["+12345"],
        ]
    )  # fmt: skip
    return _post(_good(draw, client) | {"sender_number": wrong}, WRONG)


def _wrong_text(draw: random.Random, client: str) -> Post:
    wrong: Any = draw.choice(
        [
            "", " ", "\t\n ", "\u2003\u00a0", "\0", "a\0b", "x" * 1001, "ä" * 1001,
            "\U0001f600" * 1001,
            None, 0, False, [], {}, ["text"], {"text": "x"},
        ]
    )  # fmt: skip
    return _post(_good(draw, client) | {"message_body": wrong}, WRONG)


def _wrong_metadata(draw: random.Random, client: str) -> Post:
    wrong: Any = draw.choice(
        [
            None, "", 1, [], [{}], "x" * 5000, {"other": 1}, {"client_id": None}, {"client_id": 1},
            {"timestamp": ""}, {"timestamp": 0}, {"timestamp": "yesterday"},
            {"timestamp": "2025-13-01T00:00:00Z"}, {"timestamp": "2025-10-20T12:34:56"},
            {"timestamp": "2025-10-20 12:34:56Z"}, {"timestamp": "2025-10-20T12:34:56Z\n"},
            {"timestamp": "٢٠٢٥-10-20T12:34:56Z"}, {"timestamp": "0000-01-01T00:00:00Z"},
        ]
    )  # fmt: skip
    return _post(_good(draw, client) | {"metadata": wrong}, WRONG)


def _wrong_schedule(draw: random.Random, client: str) -> Post:
    document = {name: one for name, one in _good(draw, client).items() if name not in SCHEDULED}
    return _post(document | draw.choice(WRONG_SCHEDULES), WRONG)


def _unknown_field(draw: random.Random, client: str) -> Post:
    name = draw.choice(
        ["", "extra", "Sender_number", "sender_number ", "__proto__", "a" * 9000, "\u202e", "\n"]
    )
    return _post(_good(draw, client) | {name: draw.choice([1, None, "x", [[]]])}, WRONG)


def _missing_field(draw: random.Random, client: str) -> Post:
    document = _good(draw, client)
    del document[draw.choice(["sender_number", "message_body"])]
    return _post(document, WRONG)


def _no_object(draw: random.Random, _client: str) -> Post:
    return _post(draw.choice([None, 1, -0.5, "text", True, [], [1, 2], [{}], "", {}]), WRONG)


def _stranger(draw: random.Random, client: str) -> Post:
    other = draw.choice(
        [
            "",
            "client_002",
            client + " ",
            client.upper(),
            "other.example:client_001",
            "*",
            "x" * 3000,
        ]
    )
    return _post(_good(draw, client) | {"metadata": {"client_id": other}}, STRANGER)


def _stranger_and_wrong(draw: random.Random, _client: str) -> Post:
    return _post({"message_body": "x", "metadata": {"client_id": "nobody"}}, WRONG)


def _malformed(draw: random.Random, client: str) -> Post:
    good = _spell(_good(draw, client))
    cut = draw.randrange(len(good))
    body = draw.choice(
        [
            b"", b" ", b"{", b"nul", b"{]", b"NaN", b"-Infinity", b"[1,]", b"{'a':1}",
            b'{"a":1,}', b"\xff\xfe{}",
            b"\xef\xbb\xbf" + good, good[:cut], good + b"x", good + good, good[:-1] + b',"a":NaN}',
            good[:-1] + b',"message_body":"again"}', good[:-1] + b',"a":"\xed\xa0\x80"}',
            good[:-1] + b',"a":"\\ud800"}',
            good[:-1] + b',"a":"\\x"}', good[:-1] + b',"a":"\n"}',
            good[:-1] + b',"a":' + b"[" * 17 + b"]" * 17 + b"}",
            b"[" * 8000, b'{"a":' * 2000, good[:-1] + b',"a":' + b"9" * 5000 + b"}",
            good.replace(b'"', b"'"),
            good.decode().encode("utf-16"), good[:-1] + b',"a":01}', good[:-1] + b',"a":+1}',
            b"\0" + good,
        ]
    )  # fmt: skip
    return _post(body, MALFORMED)


def _too_large(draw: random.Random, client: str) -> Post:
    more = draw.choice([1, 2, 100, 50_000])
    good = _spell(_good(draw, client))
    return _post(good + b" " * (MOST_BYTES - len(good) + more), SIZE)


def _just_fits(draw: random.Random, client: str) -> Post:
    good = _spell(_good(draw, client))
    return _post(good + b" " * (MOST_BYTES - len(good)), GOOD)


def _wrong_media(draw: random.Random, client: str) -> Post:
    media = draw.choice(
        [
            "", "text/plain", "application/xml", "application/jsonx",
            "application/json; charset=latin-1",
            "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "json",
            "application/x-ndjson",
        ]
    )  # fmt: skip
    return _post(_good(draw, client), MEDIA, {"content-type": media})


def _encoded(draw: random.Random, client: str) -> Post:
    coding = draw.choice(["gzip", "br", "deflate", "compress", "gzip, identity", "x"])
    return _post(_good(draw, client), MEDIA, {"content-encoding": coding})


def _wrong_key(draw: random.Random, client: str) -> Post:
    key = draw.choice(["a b", "x" * 256, "ü", "a\tb"])
    return _post(_good(draw, client), KEY, {"idempotency-key": key})


def _flipped(draw: random.Random, client: str) -> Post:
    """Bytes outside of ASCII where a name or a bracket stood: no document any more."""
    good = bytearray(_spell({"sender_number": _number(draw), "message_body": "x" * 50}))
    good[0] = draw.choice([0x00, 0x5B, 0x7F, 0x80, 0xC0, 0xF8, 0xFF])
    return _post(bytes(good), MALFORMED)


SPOILING: tuple[Callable[[random.Random, str], Post], ...] = (
    _wrong_number, _wrong_text, _wrong_metadata, _wrong_schedule, _unknown_field, _missing_field,
    _no_object,
    _stranger,
    _stranger_and_wrong, _malformed, _malformed, _too_large, _just_fits, _wrong_media, _encoded,
    _wrong_key, _flipped,
)  # fmt: skip
