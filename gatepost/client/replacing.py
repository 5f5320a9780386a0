"""Replaces one certificate by the next, which is asked for, checked, known to all, and only then
shown.

Who is asked is the caller's business: the gateway, a main server, or one's own CA.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from cryptography import x509

from gatepost.client.errors import CertificateError, Refused
from gatepost.client.files import Files
from gatepost.client.keys import KEY_USED, make_request
from gatepost.client.verifying import verify
from gatepost.trust.certificates import find_extension
from gatepost.wire.renewal import renewable_from

Ask = Callable[[bytes], Mapping[str, str]]
"""A function that takes the request for the new certificate (DER), and returns the certificate,
`cert`, and what to trust, `ca`."""


def is_due(files: Files, now: datetime | None = None) -> bool:
    return (now or datetime.now(UTC)) >= renewable_from(files.leaf())


def replace(
    files: Files, ask: Ask, settle: Callable[[Files], None], *, only_if_due: bool = True
) -> bool:
    """Replace a certificate, and return whether there is a new one. Files that another program has
    renewed are left alone.

    `settle` waits until the new pair can be shown. The one who answers can't bring a root of his
    own.
    """
    with files.alone():
        if only_if_due and not is_due(files):
            return False
        old, trusted = files.leaf(), files.trusted()
        key, document = _ask(files, ask)
        given = document["cert"].encode(), document["ca"].encode()
        verified = verify(*given, key, is_root=lambda one: one in trusted)
        _check(verified.leaf, old)
        settle(files.prepare(verified.chain))
        files.swap(verified.ca)
        return True


def _ask(files: Files, ask: Ask) -> tuple[bytes, Mapping[str, str]]:
    """Ask for a certificate; with another key if the certificate that the key of an earlier attempt
    was granted is revoked by now."""
    key = files.new_key()
    try:
        return key, ask(make_request(key))
    except Refused as refused:
        if refused.type != KEY_USED:
            raise
    key = files.new_key(another=True)
    return key, ask(make_request(key))


def _check(new: x509.Certificate, old: x509.Certificate) -> None:
    """Check, before the old certificate is replaced, that the new one says who we are and is for
    our use."""
    if _name(new) != _name(old):
        raise CertificateError("The new certificate is for somebody else.")
    if _use(new) != _use(old):
        raise CertificateError("The new certificate is for another use.")


def _name(certificate: x509.Certificate) -> list[str]:
    names = find_extension(certificate, x509.SubjectAlternativeName)
    return names.get_values_for_type(x509.UniformResourceIdentifier) if names else []


def _use(certificate: x509.Certificate) -> set[x509.ObjectIdentifier]:
    return set(find_extension(certificate, x509.ExtendedKeyUsage) or ())
