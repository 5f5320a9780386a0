"""Reads the three PEM files of a client, which say who is trusted and who we are, and checks them
before they are used.

OpenSSL's own words for a bad file help nobody, and for an encrypted key it would ask the terminal.
"""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from gatepost.client.errors import CertificateError
from gatepost.errors import ConfigurationError
from gatepost.trust.certificates import (
    Encrypted,
    Unreadable,
    belongs_to,
    read_certificates,
    read_private_key,
)
from gatepost.trust.identity import Role
from gatepost.trust.tls import TlsFiles, client_context

T = TypeVar("T")


def trust(ca: Path, cert: Path, key: Path, expect: Role | None = None) -> ssl.SSLContext:
    """Return a context for TLS 1.3 to a server of that CA, and of that role if one is named, as the
    holder of that certificate."""
    _read("CA file", ca, read_certificates)
    chain = _read("client certificate", cert, read_certificates)
    if not belongs_to(read_key(key), chain[0]):
        raise CertificateError(f"The client key {key} does not belong to the certificate {cert}.")
    try:
        return client_context(TlsFiles(cert_file=cert, key_file=key, ca_file=ca), expect)
    except ConfigurationError as error:
        raise CertificateError(str(error)) from None


def read_key(key: Path) -> PrivateKeyTypes:
    try:
        return _read("client key", key, read_private_key)
    except Encrypted:
        words = f"The client key {key} is encrypted: give one without a password."
        raise CertificateError(words) from None


def _read(what: str, path: Path, load: Callable[[bytes], T]) -> T:
    try:
        return load(path.read_bytes())
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise CertificateError(f"The {what} {path} can't be read: {reason}.") from None
    except Encrypted:
        raise
    except Unreadable:
        raise CertificateError(f"The {what} {path} is not what it should be: no PEM.") from None
