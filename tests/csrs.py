"""Signing requests as partners make them, good or bad."""

from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from main_server.ca.authority import new_key


def make_csr(
    *,
    key: Any = None,
    name: str | None = None,
    extensions: tuple[x509.ExtensionType, ...] = (),
    algorithm: Any = None,
) -> bytes:
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else []
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    signer: ec.EllipticCurvePrivateKey = key or new_key()
    return builder.sign(signer, algorithm or SHA256()).public_bytes(Encoding.PEM)
