"""Bodies of requests, strictly: unknown fields are refused, and so are wrong types."""

from typing import TypeVar

import msgspec
from fastapi import Request

from gatepost.errors import FieldError, Invalid, Malformed
from gatepost.service.asgi import read_body

MAX_BYTES = 32 * 1024
_INSTEAD = {
    "Invalid enum value": "is none of the values that are allowed",
    "Object contains unknown field": "holds a field that is not known",
}
T = TypeVar("T")


async def read(request: Request, kind: type[T]) -> T:
    return decode(await read_body(request.receive, MAX_BYTES), kind)


def decode(body: bytes, kind: type[T]) -> T:
    """Where and what is wrong, never what was sent: msgspec's own words would repeat it."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        pointer = place.rstrip("`").replace(".", "/")
        raise Invalid(errors=[FieldError(pointer, _without_values(words))]) from None
    except msgspec.DecodeError:
        raise Malformed() from None


def _without_values(words: str) -> str:
    for begins, instead in _INSTEAD.items():
        if words.startswith(begins):
            return instead
    return words
