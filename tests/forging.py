"""Certificates that nobody should accept: made by hand, part by part, each wrong in one thing."""

import inspect
import subprocess
import textwrap
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from ssl import PEM_cert_to_DER_cert
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from main_server.ca.authority import new_serial, utc_now

CLIENT_AUTH, SERVER_AUTH = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH
SAN, TLS_FEATURE = ObjectIdentifier("2.5.29.17"), ObjectIdentifier("1.3.6.1.5.5.7.1.24")
_BITS_FOR_A_COUNTRY = "3011a40f300d310b3009060355040603024445"
ECDSA_P256: Callable[[], Any] = lambda: ec.generate_private_key(ec.SECP256R1())  # noqa: E731


@dataclass(frozen=True)
class Signer:
    """Who signs: its certificate, its key, and the certificates between it and the root."""

    certificate: x509.Certificate
    key: Any
    chain: bytes


def read_signer(folder: Path, name: str) -> Signer:
    pem = (folder / f"{name}.pem").read_bytes()
    key = serialization.load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
    return Signer(x509.load_pem_x509_certificate(pem), key, pem)


@dataclass(frozen=True)
class Form:
    """What a certificate says; as it is, a good one of a client."""

    signer: Signer
    uris: Sequence[str] = ()
    names: Sequence[x509.GeneralName] = ()
    key: Callable[[], Any] = ECDSA_P256
    digest: Any = field(default_factory=hashes.SHA256)
    purposes: Sequence[ObjectIdentifier] | None = (CLIENT_AUTH,)
    usages: Sequence[str] | None = ("digital_signature",)
    ca: bool | None = False
    begins: timedelta = timedelta(minutes=-5)
    ends: timedelta = timedelta(days=1)
    more: Sequence[tuple[x509.ExtensionType, bool]] = ()
    names_issuer: bool = True
    raw_names: bytes | None = None
    name: str = "client_001"
    serial: Callable[[], int] = new_serial


def sign(form: Form) -> tuple[x509.Certificate, Any]:
    key = form.key()
    now: datetime = utc_now()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, form.name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(form.signer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(form.serial())
        .not_valid_before(now + form.begins)
        .not_valid_after(now + form.ends)
    )
    for extension, critical in _extensions(form):
        builder = builder.add_extension(extension, critical)
    return builder.sign(form.signer.key, form.digest), key


def subordinate(signer: Signer, **given: Any) -> Signer:
    """A CA below this one."""
    form = Form(signer, ca=True, usages=("key_cert_sign", "crl_sign"), purposes=None, name="Sub")
    certificate, key = sign(replace(form, **given))
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    return Signer(certificate, key, pem + signer.chain)


def _extensions(form: Form) -> list[tuple[x509.ExtensionType, bool]]:
    found: list[tuple[x509.ExtensionType, bool]] = list(form.more)
    if form.ca is not None:
        found.append((x509.BasicConstraints(ca=form.ca, path_length=None), True))
    if form.usages is not None:
        found.append((_usage(form.usages), True))
    if form.purposes is not None:
        found.append((x509.ExtendedKeyUsage(form.purposes), False))
    if form.raw_names is not None:
        found.append((x509.UnrecognizedExtension(SAN, form.raw_names), False))
    elif form.uris or form.names:
        uris = [x509.UniformResourceIdentifier(uri) for uri in form.uris]
        found.append((x509.SubjectAlternativeName([*uris, *form.names]), False))
    if form.names_issuer:
        public = form.signer.key.public_key()
        found.append((x509.AuthorityKeyIdentifier.from_issuer_public_key(public), False))
    return found


_USAGES = inspect.signature(x509.KeyUsage).parameters


def _usage(names: Sequence[str]) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name in names for name in _USAGES})


def der_uri(uri: bytes) -> bytes:
    """A subject alternative name of any bytes: the library makes none that isn't ASCII."""
    return _der(0x30, _der(0x86, uri))


def odd_certificates(signer: Signer) -> dict[str, bytes]:
    """DER of certificates that OpenSSL takes and cryptography doesn't, by what it raises."""
    feature = x509.UnrecognizedExtension(TLS_FEATURE, bytes.fromhex("3003020100"))
    spare = x509.UnrecognizedExtension(ObjectIdentifier("2.5.29.99"), der_uri(b"gatepost://a/b/c"))
    named = ("gatepost://example.com/client/client_001",)
    content = _content(Form(signer, uris=named, more=((spare, False),)))
    forms = {
        "UnsupportedGeneralNameType": Form(signer, raw_names=bytes.fromhex("3002a300")),
        "TypeError": Form(signer, raw_names=bytes.fromhex(_BITS_FOR_A_COUNTRY)),
        "ValueError": Form(signer, raw_names=bytes.fromhex("3003867f00")),
        "KeyError": Form(signer, uris=named, more=((feature, False),)),
    }
    contents = {name: _content(form) for name, form in forms.items()} | {
        "DuplicateExtension": content.replace(b"\x55\x1d\x63", b"\x55\x1d\x11"),
        "InvalidVersion": content.replace(bytes.fromhex("a003020102"), bytes.fromhex("a003020101")),
    }
    pems = {name: signed_again(one, signer) for name, one in contents.items()}
    return {name: PEM_cert_to_DER_cert(pem.decode()) for name, pem in pems.items()}


def _content(form: Form) -> bytes:
    return sign(form)[0].tbs_certificate_bytes


def signed_again(content: bytes, signer: Signer) -> bytes:
    """A certificate, as PEM, of content that was changed."""
    signature = signer.key.sign(content, ec.ECDSA(hashes.SHA256()))
    algorithm = bytes.fromhex("300a06082a8648ce3d040302")
    whole = _der(0x30, content + algorithm + _der(0x03, b"\0" + signature))
    lines = textwrap.wrap(b64encode(whole).decode(), 64)
    return "\n".join(
        ["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""]
    ).encode()


def _der(tag: int, value: bytes) -> bytes:
    size = len(value)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + value


def by_openssl(
    signer: Signer, folder: Path, extensions: str | None, *options: str
) -> tuple[bytes, bytes]:
    """As the command makes them; without extensions, of version 1."""
    key, request, out = folder / "own.key", folder / "own.csr", folder / "own.pem"
    ca, ca_key, said = folder / "ca.pem", folder / "ca.key", folder / "extensions"
    ca.write_bytes(signer.certificate.public_bytes(serialization.Encoding.PEM))
    ca_key.write_bytes(pem_of(signer.key))
    key.write_bytes(pem_of(ECDSA_P256()))
    ask = ["openssl", "req", "-new", "-key", str(key), "-subj", "/CN=client_001"]
    subprocess.run([*ask, "-out", str(request)], check=True, capture_output=True)
    give = ["openssl", "x509", "-req", "-in", str(request), "-CA", str(ca), "-CAkey", str(ca_key)]
    give += ["-days", "1", "-set_serial", str(new_serial()), "-out", str(out), *options]
    if extensions:
        said.write_text(extensions)
        give += ["-extfile", str(said)]
    subprocess.run(give, check=True, capture_output=True)
    return out.read_bytes() + signer.chain, key.read_bytes()


def pem_of(key: Any) -> bytes:
    pem: bytes = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return pem


def altered(data: bytes) -> Iterator[bytes]:
    """It with one byte changed, each in turn, in several ways."""
    for place, bits in product(range(len(data)), (0x01, 0x02, 0x20, 0x80, 0xFF)):
        yield data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]
