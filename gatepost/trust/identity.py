"""The identity of the holder of a certificate: `gatepost://<domain>/<role>/<name>`, its SAN URI,
and nothing else in it.

A certificate is a role (I9). A client's id is `domain:name`: it outlives every certificate (I10),
and as names are never used again by another, it never becomes someone else.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from hashlib import sha256

from cryptography import x509

from gatepost.errors import BadIdentity
from gatepost.trust.anchors import find_named, listed_number
from gatepost.trust.certificate_rules import (
    FOR_BEING_CALLED,
    FOR_CALLING,
    check_rules,
    is_issued_by,
)
from gatepost.trust.certificates import Unreadable, find_extension, read_certificate

INFRASTRUCTURE_DOMAIN = "gatepost"

_NAME = re.compile(r"\A[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?\Z")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"\A(?=.{{1,128}}\Z){_LABEL}(?:\.{_LABEL})*\Z")


class Role(StrEnum):
    CLIENT = "client"
    PROXY = "proxy"
    WORKER = "worker"
    PORTAL = "portal"
    MAIN = "main"
    ADMIN = "admin"


OURS_ALONE = (Role.PROXY, Role.WORKER, Role.MAIN)
"""The roles that work for every domain at once, so that none can be confined to one (ADR 0050)."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A domain, a role and a name; strict ASCII, so that none becomes part of another, or a
    path."""

    domain: str
    role: Role
    name: str

    def __post_init__(self) -> None:
        if not is_domain(self.domain):
            raise BadIdentity("a domain is lower-case ASCII labels joined by dots")
        if not is_name(self.name):
            raise BadIdentity("a name is 1 to 64 ASCII letters, digits, '_' and '-'")

    @property
    def uri(self) -> str:
        return f"gatepost://{self.domain}/{self.role}/{self.name}"

    @property
    def client_id(self) -> str:
        return f"{self.domain}:{self.name}"

    def answers_to(self, client_id: str) -> bool:
        """Return whether a `metadata.client_id`, in either of its forms, means this identity."""
        return client_id in (self.name, self.client_id)


def is_name(text: str) -> bool:
    """Return whether a holder could be called that within a domain."""
    return _NAME.match(text) is not None


def is_domain(text: str) -> bool:
    return _DOMAIN.match(text) is not None


def parse_uri(uri: str) -> Identity:
    scheme, _, rest = uri.partition("://")
    parts = rest.split("/")
    if scheme != "gatepost" or len(parts) != 3 or parts[1] not in set(Role):
        raise BadIdentity("the SAN URI is not gatepost://<domain>/<role>/<name>")
    found = Identity(parts[0], Role(parts[1]), parts[2])
    if found.role in OURS_ALONE and found.domain != INFRASTRUCTURE_DOMAIN:
        raise BadIdentity(f"the role {found.role} is for the domain {INFRASTRUCTURE_DOMAIN} alone")
    return found


class Certificate:
    """A peer's certificate as TLS has verified it; parsed once for each connection."""

    def __init__(self, der: bytes) -> None:
        """Take a certificate in DER. One that can't be read only tells what it is called by, which
        follows from `fingerprint`: the rest raises Unreadable, so that whoever shows it is
        refused."""
        self.fingerprint = sha256(der).hexdigest()
        """SHA-256 of the certificate, in hex."""
        self._read: x509.Certificate | None = None
        with suppress(Unreadable):
            self._read = read_certificate(der)

    @property
    def _x509(self) -> x509.Certificate:
        if self._read is None:
            raise Unreadable("the certificate can't be read")
        return self._read

    @cached_property
    def serial(self) -> str:
        return f"{self._x509.serial_number:032x}"

    @cached_property
    def listed_number(self) -> str:
        """The number by which our lists of what is revoked name it if it is of a CA that isn't
        ours."""
        return listed_number(self.fingerprint)

    @cached_property
    def issuer(self) -> str:
        """The id of the key that has signed it, in hex; empty if it doesn't say."""
        signer = find_extension(self._x509, x509.AuthorityKeyIdentifier)
        return ((signer and signer.key_identifier) or b"").hex()

    @cached_property
    def not_before(self) -> datetime:
        return self._x509.not_valid_before_utc

    @cached_property
    def not_after(self) -> datetime:
        return self._x509.not_valid_after_utc

    @cached_property
    def caller(self) -> Identity:
        """The identity of who calls with it. Raises BadIdentity unless it is for calling, and for
        nothing else."""
        check_rules(self._x509, FOR_CALLING)
        return self.identity

    @cached_property
    def named(self) -> str | None:
        """The identity of ours that a certificate of a CA that isn't ours names, a URI; None if it
        names none. Raises BadIdentity unless it is for calling, and for nothing else."""
        return find_named(self._x509)

    def is_issued_by(self, issuer: x509.Certificate) -> bool:
        return is_issued_by(self._x509, issuer)

    @cached_property
    def server(self) -> Identity:
        """The identity of the server that is called. Raises BadIdentity unless it is for being
        called, and for nothing else."""
        check_rules(self._x509, FOR_BEING_CALLED)
        return self.identity

    @cached_property
    def identity(self) -> Identity:
        """The identity that it names. Raises BadIdentity unless there is exactly one URI, and it is
        one of ours."""
        names = find_extension(self._x509, x509.SubjectAlternativeName)
        if names is None:
            raise BadIdentity(
                "the certificate has a common name alone, no SAN URI:"
                " get a new one by 'gatepost enrol'"
            )
        uris = names.get_values_for_type(x509.UniformResourceIdentifier)
        if len(uris) != 1:
            raise BadIdentity(f"the certificate has {len(uris)} SAN URIs instead of one")
        return parse_uri(uris[0])
