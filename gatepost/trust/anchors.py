"""Reads certificates of a CA that isn't ours: a trust anchor, bound to one domain and to the role
client.

Such a certificate belongs to the one whom it was registered for, whatever it says. It needn't name
anybody of ours; if it does, it must be that one. Its CA numbers as it likes, so our lists of what
is revoked name it by a number of ours.
"""

from cryptography import x509

from gatepost.errors import BadIdentity
from gatepost.trust.certificate_rules import FOR_CALLING, check_rules
from gatepost.trust.certificates import find_extension

_FIRST_BIT = 1 << 127


def listed_number(fingerprint: str) -> str:
    """Return the number, in hex, that our lists name such a certificate by. Its first bit is set,
    unlike that of any serial that we give: they never meet."""
    return f"{_FIRST_BIT | int(fingerprint, 16) >> 128:032x}"


def find_named(certificate: x509.Certificate) -> str | None:
    """Return the identity of ours that a certificate names, a URI; None if it names none. Raise
    BadIdentity unless it keeps the rules that ours keep."""
    check_rules(certificate, FOR_CALLING)
    names = find_extension(certificate, x509.SubjectAlternativeName)
    if names is None:
        return None
    uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    found = [uri for uri in uris if uri.lower().startswith("gatepost:")]
    if len(found) > 1:
        raise BadIdentity(f"the certificate names {len(found)} identities of ours")
    return found[0] if found else None
