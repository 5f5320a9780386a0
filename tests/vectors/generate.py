"""Makes edge.json and row.json: python -m tests.vectors.generate

Run it when a form changes, which makes another version of it; the vectors of a form that is in use
are never made anew, or they would no longer show that what was sealed once can be opened. Keys are
derived from their names, so they are the same each time; the encapsulations are not.
"""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from gatepost.trust.sealing import Sealer, SealingKey
from gatepost.wire.content import Content, encode_content
from main_server.keys.rows.form import seal_row

FOLDER = Path(__file__).parent
DAY = date(2026, 11, 18)
EDGE_PARTS = {"version": 0, "key id": 1, "encapsulated": 9, "nonce": 89, "ciphertext": 101}
ROW_PARTS = {"version": 0, "nonce": 1, "ciphertext": 13}
CLIENT, DOMAIN = "example.com:client_001", "example.com"
BODIES = ("This is the message content", "x", "Grüße 👋 \u0000\n", "4321")

Vector = dict[str, Any]


def derived(name: str, size: int = 32) -> bytes:
    return sha256(f"gatepost test vector {name}".encode()).digest()[:size]


def message_id(number: int) -> UUID:
    ms = int(datetime(2026, 11, 18, 12, tzinfo=UTC).timestamp() * 1000) + number
    random = int.from_bytes(derived(f"id {number}", 9), "big")
    return UUID(
        int=ms << 80 | 7 << 76 | (random >> 62 & 0xFFF) << 64 | 2 << 62 | random & (1 << 62) - 1
    )


def contents() -> list[bytes]:
    return [encode_content(Content("+1234567890", body)) for body in BODIES]


def damaged(sealed: bytes, parts: dict[str, int]) -> Iterator[tuple[str, bytes]]:
    """Every part with its first, middle and last bit flipped; cut and prolonged everywhere."""
    starts = [*parts.values(), len(sealed)]
    for (part, start), end in zip(parts.items(), starts[1:], strict=True):
        for bit in sorted({start * 8, (start + end) * 4, end * 8 - 1}):
            flipped = bytearray(sealed)
            flipped[bit // 8] ^= 128 >> bit % 8
            yield f"bit {bit - start * 8} of the {part} is flipped", bytes(flipped)
        yield f"cut before the {part}", sealed[:start]
    yield "the last byte is missing", sealed[:-1]
    yield "the tag is missing", sealed[:-16]
    yield "a byte is added", sealed + b"\x00"
    yield "a byte is put in front", b"\x00" + sealed
    for version in (0, 2, 255):
        yield f"version {version}", bytes([version]) + sealed[1:]


def misplaced(name: str, number: int) -> Iterator[tuple[str, Vector]]:
    """The same bytes as another message, of another client or domain."""
    yield "another message id", {"message_id": str(message_id(number + 100))}
    yield "another client", {"client_id": "example.com:client_002"}
    yield "another domain", {"domain": "example.org"}
    yield "client and domain exchanged", {"client_id": DOMAIN, "domain": CLIENT}
    yield "a part moves from one to the next", {"client_id": CLIENT + "\0", "domain": DOMAIN[1:]}
    yield f"no client ({name})", {"client_id": ""}


def edge_vectors() -> Vector:
    keys = {name: X25519PrivateKey.from_private_bytes(derived(name)) for name in ("one", "two")}
    kids = {name: derived(f"kid {name}", 8) for name in (*keys, "destroyed")}

    def seal(name: str, number: int, content: bytes) -> bytes:
        private = keys.get(name) or X25519PrivateKey.from_private_bytes(derived(name))
        key = SealingKey(kids[name], private.public_key().public_bytes_raw(), 1 << 47)
        return Sealer().seal(key, message_id(number), CLIENT, DOMAIN, content)

    tests = []
    for number, content in enumerate(contents()):
        name = ("one", "two")[number % 2]
        tests.append(_vector(number, "it opens", seal(name, number, content), content))
    first, second = bytes.fromhex(tests[0]["sealed"]), bytes.fromhex(tests[2]["sealed"])
    tests += [_vector(0, "the bytes of another message", second)]
    tests += [_vector(0, comment, sealed) for comment, sealed in damaged(first, EDGE_PARTS)]
    tests += [_vector(0, comment, first) | change for comment, change in misplaced("edge", 0)]
    tests += [
        _vector(0, "the id of another key", first[:1] + kids["two"] + first[9:]),
        _vector(0, "the id of no key", first[:1] + derived("kid three", 8) + first[9:]),
        _vector(0, "the key was destroyed", seal("destroyed", 0, contents()[0])),
        _vector(0, "the context of another message", first[:9] + second[9:89] + first[89:]),
        _vector(0, "a point of low order", first[:9] + bytes(32) + first[41:]),
        _vector(0, "another point of low order", first[:9] + b"\x01" + bytes(31) + first[41:]),
        _vector(0, "nothing", b""),
    ]
    stored = [
        {"kid": kids[n].hex(), "private": k.private_bytes_raw().hex()} for n, k in keys.items()
    ]
    return {
        "form": "sealed at the edge, version 1",
        "sealing_keys": stored,
        "tests": _numbered(tests),
    }


def row_vectors() -> Vector:
    ids = {"one": 1, "other client": 2, "destroyed": 3}

    def seal(name: str, number: int, content: bytes) -> bytes:
        return seal_row(derived(name), ids[name], message_id(number), CLIENT, DOMAIN, content)

    tests = []
    for number, content in enumerate(contents()):
        tests.append(_vector(number, "it opens", seal("one", number, content), content, key_id=1))
    first, second = (bytes.fromhex(tests[n]["sealed"]) for n in (0, 1))
    tests += [_vector(0, "the body of another row", second, key_id=1)]
    tests += [_vector(0, comment, s, key_id=1) for comment, s in damaged(first, ROW_PARTS)]
    tests += [_vector(0, comment, first, key_id=1) | c for comment, c in misplaced("row", 0)]
    tests += [
        _vector(0, "the id of another key", first, key_id=2),
        _vector(0, "another key", seal("other client", 0, contents()[0]), key_id=1),
        _vector(0, "the key was destroyed", seal("destroyed", 0, contents()[0]), key_id=3),
        _vector(0, "nothing", b"", key_id=1),
    ]
    held = {"one": CLIENT, "other client": "example.com:client_002"}
    stored = [
        {"key_id": ids[n], "client_id": c, "day": DAY.isoformat(), "key": derived(n).hex()}
        for n, c in held.items()
    ]
    return {
        "form": "sealed for rest, version 1",
        "data_keys": stored,
        "destroyed_keys": [{"key_id": 3, "client_id": CLIENT, "day": "2026-11-01"}],
        "tests": _numbered(tests),
    }


def _vector(
    number: int, comment: str, sealed: bytes, content: bytes | None = None, **more: Any
) -> Vector:
    return {
        "comment": comment,
        "message_id": str(message_id(number)),
        "client_id": CLIENT,
        "domain": DOMAIN,
        **more,
        "sealed": sealed.hex(),
        "content": content.decode() if content else None,
    }


def _numbered(tests: list[Vector]) -> list[Vector]:
    return [{"id": number, **test} for number, test in enumerate(tests, 1)]


if __name__ == "__main__":
    for name, vectors in (("edge", edge_vectors()), ("row", row_vectors())):
        text = json.dumps(vectors, indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n")
