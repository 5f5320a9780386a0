"""Sign certificates: the intermediate, and what it puts into a certificate for each use.

A certificate carries one SAN URI, the identity of its holder (gatepost.trust.identity); servers
have names and addresses beside it. Serials are random, of 128 bits. How the CA comes to be is in
`main_server.ca.founding`.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from gatepost.errors import ConfigurationError
from gatepost.trust.certificates import Unreadable, belongs_to, read_certificates, read_private_key
from gatepost.trust.identity import Identity
from main_server.ca import parts
from main_server.ca.keys import PublicKey

BACKDATE = timedelta(minutes=5)
"""The time by which validity begins early: a peer's clock may be a little behind ours."""


class Usage(Enum):
    """The use of a leaf: to call, or to be called; never both."""

    CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH
    SERVER = ExtendedKeyUsageOID.SERVER_AUTH


@dataclass(frozen=True, slots=True)
class Order:
    """An order for a certificate: what it is to say."""

    identity: Identity
    usage: Usage
    lifetime: timedelta
    hosts: Sequence[str] = ()


class Authority:
    """An intermediate, able to sign. `public_url` is where its lists are found, if anywhere."""

    def __init__(
        self,
        certificate: x509.Certificate,
        key: ec.EllipticCurvePrivateKey,
        public_url: str | None = None,
    ) -> None:
        self._certificate = certificate
        self._key = key
        self._public_url = public_url

    @property
    def certificate(self) -> x509.Certificate:
        return self._certificate

    @cached_property
    def kid(self) -> str:
        """The name that its certificates and lists give their issuer: the key's identifier, in
        hex."""
        return x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()).digest.hex()

    def ends_at(self, order: Order, now: datetime) -> datetime:
        """Return when a certificate ends: it must not outlive the one that it is verified by."""
        return min(now + order.lifetime, self._certificate.not_valid_after_utc)

    def sign(self, order: Order, key: PublicKey, serial: int, now: datetime) -> x509.Certificate:
        """Sign a leaf, whose serial is already in the ledger."""
        names = parts.alternative_names(order.identity.uri, order.hosts)
        builder = (
            self._begin(order.identity.name, key, serial, now, self.ends_at(order, now))
            .add_extension(x509.ExtendedKeyUsage([order.usage.value]), critical=True)
            .add_extension(names, critical=False)
        )
        if self._public_url is not None:
            points = parts.crl_points(self._public_url, self.kid)
            access = parts.information_access(self._public_url, self.kid)
            builder = builder.add_extension(points, critical=False)
            builder = builder.add_extension(access, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def sign_responder(
        self, key: PublicKey, serial: int, now: datetime, lifetime: timedelta
    ) -> x509.Certificate:
        """Sign a certificate for whoever answers OCSP in our name; it is short-lived, and nobody
        asks about it."""
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.OCSP_SIGNING])
        builder = self._begin("Gatepost OCSP", key, serial, now, now + lifetime)
        return (
            builder.add_extension(usage, critical=True)
            .add_extension(x509.OCSPNoCheck(), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def sign_crl(self, builder: x509.CertificateRevocationListBuilder) -> bytes:
        """Sign a list, with our name and key identifier, and return its DER."""
        ours = builder.issuer_name(self._certificate.subject).add_extension(
            parts.authority_key(self._key.public_key()), critical=False
        )
        return ours.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)

    def chain(self, certificate: x509.Certificate) -> bytes:
        """Return the PEM that its holder shows: the leaf, then the intermediate."""
        return parts.to_pem(certificate) + parts.to_pem(self._certificate)

    def _begin(
        self, name: str, key: PublicKey, serial: int, now: datetime, until: datetime
    ) -> x509.CertificateBuilder:
        return (
            parts.begin(name, key, serial)
            .issuer_name(self._certificate.subject)
            .not_valid_before(now - BACKDATE)
            .not_valid_after(until)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(parts.key_usage(signs=False), critical=True)
            .add_extension(parts.authority_key(self._key.public_key()), critical=False)
        )


def new_serial() -> int:
    """Return a random serial of 128 bits; the first is 0 and the second 1, so that every serial has
    the same length."""
    return secrets.randbits(127) | 1 << 126


def new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def load_authority(folder: Path, public_url: str | None = None) -> Authority:
    """Return the intermediate that signs."""
    return read_pair(folder, "intermediate", public_url)


def read_pair(folder: Path, name: str, public_url: str | None = None) -> Authority:
    return Authority(*read_files(folder, name), public_url)


def read_files(folder: Path, name: str) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    try:
        certificate, *_ = read_certificates((folder / f"{name}.pem").read_bytes())
    except (OSError, Unreadable) as error:
        raise _unusable(folder, error) from None
    key = read_key(folder / f"{name}.key")
    if not belongs_to(key, certificate):
        words = f"{name}.key is not the key of {name}.pem"
        raise ConfigurationError(f"the CA in {folder} can't be used: {words}")
    return certificate, key


def read_key(file: Path) -> ec.EllipticCurvePrivateKey:
    try:
        key = read_private_key(file.read_bytes())
    except (OSError, Unreadable) as error:
        raise _unusable(file.parent, error) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ConfigurationError(f"the CA in {file.parent} can't be used: its key is not an EC key")
    return key


def _unusable(folder: Path, error: OSError | Unreadable) -> ConfigurationError:
    reason = getattr(error, "strerror", None) or "it is not PEM"
    return ConfigurationError(f"the CA in {folder} can't be used: {reason}")


def utc_now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
