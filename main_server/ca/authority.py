"""Signing: a root that can stay offline, an intermediate that signs, and a profile for each use.

A certificate carries one SAN URI, the identity of its holder (gatepost.identity); servers have
names and addresses beside it. ECDSA P-256, random serials of 128 bits.
"""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gatepost.errors import ConfigurationError
from gatepost.identity import Identity

ROOT_DAYS, INTERMEDIATE_DAYS = 3650, 1825
_BACKDATE = timedelta(minutes=5)
"""A peer's clock may be a little behind ours."""


class Usage(Enum):
    """What a leaf may be used for: to call, or to be called; never both."""

    CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH
    SERVER = ExtendedKeyUsageOID.SERVER_AUTH


@dataclass(frozen=True, slots=True)
class Order:
    """What a certificate is to say."""

    identity: Identity
    usage: Usage
    lifetime: timedelta
    hosts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Issued:
    certificate: x509.Certificate
    chain_pem: bytes
    key_pem: bytes


class Authority:
    """The intermediate, able to sign."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._certificate = certificate
        self._key = key

    @property
    def certificate(self) -> x509.Certificate:
        return self._certificate

    @cached_property
    def kid(self) -> str:
        """What its certificates and lists call their issuer: the key's identifier, in hex."""
        return x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()).digest.hex()

    def sign_crl(self, builder: x509.CertificateRevocationListBuilder) -> bytes:
        """DER of a list, with our name and key identifier."""
        ours = builder.issuer_name(self._certificate.subject).add_extension(
            _authority_key(self._key), critical=False
        )
        return ours.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)

    def issue(self, order: Order, serial: int, now: datetime) -> Issued:
        """A certificate with a key made here. The serial is already in the ledger."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(order.identity.name, key.public_key(), serial)
            .issuer_name(self._certificate.subject)
            .not_valid_before(now - _BACKDATE)
            .not_valid_after(now + order.lifetime)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([order.usage.value]), critical=True)
            .add_extension(_names(order), critical=False)
            .add_extension(_authority_key(self._key), critical=False)
        )
        certificate = builder.sign(self._key, hashes.SHA256())
        return Issued(certificate, _pem(certificate) + _pem(self._certificate), _key_pem(key))


def new_serial() -> int:
    """128 random bits; the first is set, so that every serial has the same length."""
    return secrets.randbits(127) | 1 << 126


def init_authority(folder: Path, now: datetime) -> bool:
    """Makes root and intermediate, unless they are there; says whether it did."""
    if (folder / "intermediate.pem").exists():
        return False
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    root_key = ec.generate_private_key(ec.SECP256R1())
    root = _ca_certificate("Gatepost Root", root_key, None, root_key, ROOT_DAYS, 1, now)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _ca_certificate(
        "Gatepost Intermediate", key, root, root_key, INTERMEDIATE_DAYS, 0, now
    )
    _write(folder / "root.key", _key_pem(root_key))
    _write(folder / "root.pem", _pem(root))
    _write(folder / "intermediate.key", _key_pem(key))
    _write(folder / "intermediate.pem", _pem(certificate))  # last: it says that all are there
    return True


def load_authority(folder: Path) -> Authority:
    try:
        certificate = x509.load_pem_x509_certificate((folder / "intermediate.pem").read_bytes())
        key = serialization.load_pem_private_key((folder / "intermediate.key").read_bytes(), None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not PEM"
        raise ConfigurationError(f"the CA in {folder} can't be used: {reason}") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ConfigurationError(f"the CA in {folder} can't be used: its key is not an EC key")
    return Authority(certificate, key)


def _ca_certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey,
    days: int,
    path_length: int,
    now: datetime,
) -> x509.Certificate:
    subject = _common_name(name)
    builder = (
        _builder(name, key.public_key(), new_serial())
        .issuer_name(issuer.subject if issuer else subject)
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=path_length), critical=True)
        .add_extension(_key_usage(signs=True), critical=True)
        .add_extension(_authority_key(issuer_key), critical=False)
    )
    return builder.sign(issuer_key, hashes.SHA256())


def _builder(name: str, key: ec.EllipticCurvePublicKey, serial: int) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_common_name(name))
        .public_key(key)
        .serial_number(serial)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _names(order: Order) -> x509.SubjectAlternativeName:
    names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(order.identity.uri)]
    for host in order.hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
        except ValueError:
            names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def _authority_key(key: ec.EllipticCurvePrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(file: Path, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)


def utc_now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
