"""Reads certificates, signing requests, lists and keys that others have made, which is done here
and nowhere else.

cryptography looks at some parts only when it is asked for them, and raises a dozen kinds of errors
for those that it can't read; some of them are no ValueError. Code that forgot one of them let a
stranger's certificate end a process. So all parts are looked at when something is read, and
whatever is wrong with it is one error: Unreadable.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.hashes import HashAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import ocsp

from gatepost.errors import BadIdentity

E = TypeVar("E", bound=x509.ExtensionType)

Extended = (
    x509.Certificate
    | x509.CertificateSigningRequest
    | x509.CertificateRevocationList
    | x509.RevokedCertificate
)


class Unreadable(BadIdentity):
    """A certificate, or what belongs to one, can't be read."""


class Encrypted(Unreadable):
    """The key is encrypted."""


def read_certificate(der: bytes) -> x509.Certificate:
    with reading("the certificate"):
        return _seen(x509.load_der_x509_certificate(der))


def read_certificates(pem: bytes) -> list[x509.Certificate]:
    """Return the certificates of a PEM file, at least one."""
    with reading("the certificate"):
        return [_seen(one) for one in x509.load_pem_x509_certificates(pem)]


def read_request(data: bytes) -> x509.CertificateSigningRequest:
    """Return a PKCS#10 request, from PEM or DER."""
    with reading("the request"):
        if data.lstrip().startswith(b"-----"):
            request = x509.load_pem_x509_csr(data.strip())
        else:
            request = x509.load_der_x509_csr(data)
        _ = request.subject, request.signature, list(request.extensions)
        return request


def read_crl(data: bytes) -> x509.CertificateRevocationList:
    """Return a list of revoked certificates, from PEM or DER. Its entries are not looked at here:
    of a long list that takes long."""
    with reading("the list"):
        if data.startswith(b"-----"):
            crl = x509.load_pem_x509_crl(data)
        else:
            crl = x509.load_der_x509_crl(data)
        _ = crl.issuer, crl.last_update_utc, crl.next_update_utc, list(crl.extensions)
        return crl


def read_question(der: bytes) -> ocsp.OCSPRequest:
    """Return what somebody asks by OCSP."""
    with reading("the question"):
        question = ocsp.load_der_ocsp_request(der)
        _ = question.serial_number, question.hash_algorithm, list(question.extensions)
        return question


def read_private_key(pem: bytes) -> PrivateKeyTypes:
    """Return a key that is kept without a password; raise Encrypted for one that has one."""
    with reading("the key"):
        try:
            return load_pem_private_key(pem, None)
        except TypeError:
            raise Encrypted() from None


def belongs_to(key: PrivateKeyTypes, certificate: x509.Certificate) -> bool:
    """Return whether this is the key that the certificate is for."""
    with reading("the key"):
        return key.public_key() == certificate.public_key()


def signed_by(
    one: x509.Certificate | x509.CertificateSigningRequest | x509.CertificateRevocationList,
) -> HashAlgorithm | None:
    """Return the digest of the signature on it; None if the signature is of a kind that needs
    none."""
    with reading("the signature"):
        return one.signature_hash_algorithm


def key_of(one: x509.Certificate | x509.CertificateSigningRequest) -> object:
    """Return its public key; raise Unreadable for a key of a kind that nobody here knows."""
    with reading("the key"):
        return one.public_key()


def find_extension(one: Extended, kind: type[E]) -> E | None:
    """Return its extension of this kind; None if it has none."""
    with reading("the extensions"):
        for extension in one.extensions:
            if isinstance(extension.value, kind):
                return extension.value
        return None


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Make one error, Unreadable, of whatever cryptography raises. Nothing but its calls belongs in
    here."""
    try:
        yield
    except Unreadable:
        raise
    except Exception:
        raise Unreadable(f"{what} can't be read") from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # Rust's, and no Exception
            raise Unreadable(f"{what} can't be read") from None
        raise


def _seen(certificate: x509.Certificate) -> x509.Certificate:
    """Return the certificate after a look at the parts that are read only when somebody asks for
    them."""
    _ = certificate.version, certificate.serial_number, certificate.subject, certificate.issuer
    _ = certificate.not_valid_before_utc, certificate.not_valid_after_utc, certificate.signature
    _ = list(certificate.extensions)
    return certificate
