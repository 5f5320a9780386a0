"""What administrators send, strictly: unknown fields are refused, and so are wrong types."""

from typing import Annotated, TypeVar

import msgspec
from fastapi import Request
from msgspec import Meta

from gatepost.errors import FieldError, Invalid, Malformed
from gatepost.identity import Role
from gatepost.service.asgi import read_body
from main_server.ca.bounds import MOST_DAYS, MOST_MINUTES
from main_server.ca.crl import Reason

MAX_BYTES = 32 * 1024
_INSTEAD = {
    "Invalid enum value": "is none of the values that are allowed",
    "Object contains unknown field": "holds a field that is not known",
}
T = TypeVar("T")


class CertificateOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`client_id` is name, name.domain or domain:name. Without a request, the key is made here."""

    client_id: str
    role: Role = Role.CLIENT
    usage: str | None = None
    hosts: list[str] = []
    days: Annotated[float, Meta(ge=0, le=MOST_DAYS)] | None = None
    csr: str | None = None
    pkcs12_password: str | None = None


class AnchorOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A CA's certificate (PEM), and the domain whose clients it may certify."""

    domain: str
    certificate: str


class Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A certificate (PEM) of a CA that isn't ours, and whose it is."""

    client_id: str
    certificate: str


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the first three says which."""

    client_id: str | None = None
    serial: str | None = None
    fingerprint: str | None = None
    role: Role | None = None
    reason: Reason = Reason.UNSPECIFIED
    dry_run: bool = False


class TokenOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    client_id: str
    minutes: Annotated[float, Meta(ge=0, le=MOST_MINUTES)] = 60


class ClientOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    client_id: str
    rate_per_second: int = 100
    burst: int = 100


class ClientChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rate_per_second: int | None = None
    burst: int | None = None
    disabled: bool | None = None


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
