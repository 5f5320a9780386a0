"""Strict reading of requests' bodies: unknown fields are refused, and so are wrong types."""

from typing import TypeVar

import msgspec
from fastapi import Request

from gatepost.decoding import decode_said
from gatepost.errors import Invalid, Malformed
from gatepost.mistakes import of_msgspec
from gatepost.service.asgi import read_body

MAX_BYTES = 32 * 1024
T = TypeVar("T")


async def read(request: Request, kind: type[T]) -> T:
    return decode(await read_body(request.receive, MAX_BYTES), kind)


def decode(body: bytes, kind: type[T]) -> T:
    """Decode a body; raise errors that say where and what is wrong, never what was sent: msgspec's
    own words would repeat it."""
    try:
        return decode_said(body, kind)
    except msgspec.ValidationError as error:
        raise Invalid(errors=[of_msgspec(error, fields_of(kind))]) from None
    except msgspec.DecodeError:
        raise Malformed() from None


def fields_of(kind: object) -> tuple[str, ...]:
    """Return the names of all fields of a type, for those that are typed almost right."""
    if not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
        return ()
    return tuple(one.encode_name for one in msgspec.structs.fields(kind))
