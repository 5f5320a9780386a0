"""Decoders of JSON and MessagePack that came from outside a process, each for one type.

msgspec has no error of its own for text that isn't UTF-8, nor for what is nested deeper than Python
goes: code that forgets these is ended by them, and a worker comes back to the same payload each
time. So decoders are made here alone, and whatever is wrong is Undecodable.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

D = TypeVar("D")
T = TypeVar("T")

Undecodable = msgspec.MsgspecError
"""The only error that a decoder raises. A ValidationError is one: what was read is of another
form."""


def json_decoder(kind: type[T]) -> Callable[[bytes | bytearray | str], T]:
    return _safe(msgspec.json.Decoder(kind).decode)


def msgpack_decoder(kind: type[T]) -> Callable[[bytes | bytearray], T]:
    return _safe(msgspec.msgpack.Decoder(kind).decode)


def decode_json(data: bytes, kind: type[T]) -> T:
    """Decode JSON into a type that is known only when it is asked for."""
    return json_decoder(kind)(data)


def decode_said(data: bytes, kind: type[T]) -> T:
    """Decode JSON that people and partners write: refuse an object that has a name twice, of which
    the last one would silently count."""
    try:
        json.loads(data, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise msgspec.DecodeError("it can't be read, or not in one way only") from None
    return decode_json(data, kind)


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError


def _safe(decode: Callable[[D], T]) -> Callable[[D], T]:
    def decode_safely(data: D) -> T:
        try:
            return decode(data)
        except UnicodeDecodeError:
            raise msgspec.DecodeError("it is not UTF-8") from None
        except RecursionError:
            raise msgspec.DecodeError("it is nested too deep") from None

    return decode_safely
