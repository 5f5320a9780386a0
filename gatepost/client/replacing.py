"""One certificate is replaced by the next: asked for, checked, known to all, and only then shown.

Who is asked is the caller's business: the gateway, a main server, or one's own CA.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from gatepost.client.errors import CertificateError, UnexpectedAnswer
from gatepost.client.files import Files
from gatepost.client.keys import make_request
from gatepost.renewal import renewable_from

Ask = Callable[[bytes], Mapping[str, str]]
"""Gets the request for the new certificate (DER); gives it, `cert`, and what to trust, `ca`."""


def is_due(files: Files, now: datetime | None = None) -> bool:
    return (now or datetime.now(UTC)) >= renewable_from(files.leaf())


def replace(
    files: Files, ask: Ask, settle: Callable[[Files], None], *, only_if_due: bool = True
) -> bool:
    """Whether there is a new certificate. Files that another program renewed are left alone.

    `settle` waits until the new pair can be shown.
    """
    with files.alone():
        if only_if_due and not is_due(files):
            return False
        old, key = files.leaf(), files.new_key()
        document = ask(make_request(key))
        chain, ca = document["cert"].encode(), document["ca"].encode()
        _check(chain, ca, old, key)
        settle(files.prepare(chain, ca))
        files.swap()
        return True


def _check(chain: bytes, ca: bytes, old: x509.Certificate, key: bytes) -> None:
    """Before the old one is replaced: it is for our key and our use, and says who we are."""
    try:
        new = x509.load_pem_x509_certificates(chain)[0]
        x509.load_pem_x509_certificates(ca)
    except ValueError:
        raise UnexpectedAnswer("The answer is not a certificate.") from None
    if new.public_key() != load_pem_private_key(key, None).public_key():
        raise CertificateError("The new certificate is for another key.")
    if _name(new) != _name(old):
        raise CertificateError("The new certificate is for somebody else.")
    if _use(new) != _use(old):
        raise CertificateError("The new certificate is for another use.")


def _name(certificate: x509.Certificate) -> list[str]:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.UniformResourceIdentifier)


def _use(certificate: x509.Certificate) -> set[x509.ObjectIdentifier]:
    return set(certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
