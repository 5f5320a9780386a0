"""A partner's own CA, and what it signs: as it is, good; each part of it replaceable."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.trust.tls import TlsFiles
from main_server.ca.authority import new_key, new_serial, utc_now
from main_server.ca.parts import common_name, key_usage
from tests.forging import Form, Signer, pem_of, sign


@dataclass
class PartnerCa:
    name: str = field(default_factory=lambda: f"Partner {uuid4().hex[:8]}")
    key: Any = field(default_factory=new_key)
    key_id: bytes | None = None
    has_key_id: bool = True
    ca: bool = True
    signs: bool = True
    begins: timedelta = timedelta(days=-1)
    ends: timedelta = timedelta(days=365)
    digest: Any = field(default_factory=hashes.SHA256)
    more: Sequence[x509.ExtensionType] = ()

    @cached_property
    def certificate(self) -> x509.Certificate:
        subject, public, now = common_name(self.name), self.key.public_key(), utc_now()
        identifier = x509.SubjectKeyIdentifier.from_public_key(public)
        if self.key_id:
            identifier = x509.SubjectKeyIdentifier(self.key_id)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(public)
            .serial_number(new_serial())
            .not_valid_before(now + self.begins)
            .not_valid_after(now + self.ends)
            .add_extension(x509.BasicConstraints(ca=self.ca, path_length=None), critical=True)
            .add_extension(key_usage(signs=self.signs), critical=True)
        )
        if self.has_key_id:
            builder = builder.add_extension(identifier, critical=False)
        for one in self.more:
            builder = builder.add_extension(one, critical=True)
        return builder.sign(self.key, self.digest)

    @cached_property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def signer(self) -> Signer:
        """It sends itself along to nobody."""
        return Signer(self.certificate, self.key, b"")

    def sign(self, **given: Any) -> tuple[bytes, bytes]:
        """A certificate that names nobody of ours, and its key, PEM."""
        certificate, key = sign(Form(**({"signer": self.signer} | given)))
        return certificate.public_bytes(Encoding.PEM), pem_of(key)

    def issue(self, folder: Path, ca_file: Path, **given: Any) -> TlsFiles:
        """In files, for a caller who trusts that CA file."""
        files = TlsFiles(folder / "own.pem", folder / "own.key", ca_file)
        pem, key = self.sign(**given)
        files.cert_file.write_bytes(pem)
        files.key_file.write_bytes(key)
        return files
