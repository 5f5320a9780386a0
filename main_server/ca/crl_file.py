"""The file of what is revoked, for those who check certificates with other programs.

PEM, one block for each intermediate that is trusted now. It is written by
`main_server.ca.recovery.follow` alone, because it may know what the ledger has forgotten. After a
restore a newer one is put in its place, from wherever one was kept. So it is read in other forms as
well: a single list as the PKI port gives it (DER), and the file that a proxy keeps.
"""

from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.errors import ConfigurationError
from gatepost.trust.certificates import Unreadable, read_crl
from gatepost.trust.revocation import Revocations, decode_revocations
from gatepost.whole_file import replace_file

_MODE = 0o644
_BEGIN, _END = b"-----BEGIN", b"-----END X509 CRL-----\n"
_DER = b"\x30"
"""The first byte of a list in DER: a SEQUENCE."""


def to_pem(revocations: Revocations) -> bytes:
    lists = [read_crl(der) for der in revocations.crls]
    return b"".join(one.public_bytes(Encoding.PEM) for one in lists)


def write_crl_file(file: Path, revocations: Revocations) -> bool:
    """Write the file if it says something else; return whether it did. Raise ConfigurationError if
    it can't be written."""
    pem = to_pem(revocations)
    try:
        if file.exists() and file.read_bytes() == pem:
            return False
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, pem, _MODE)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from None
    return True


def read_crl_file(file: Path) -> list[bytes]:
    """Return the lists in the file, DER; none if it isn't there. Raise ConfigurationError if one is
    damaged."""
    try:
        lists = _read(file.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError, Unreadable, msgspec.MsgspecError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        words = "what a restored ledger has forgotten may be in it: bring an undamaged copy back"
        raise ConfigurationError(f"{file} can't be read: {reason}; {words}") from None
    return [one.public_bytes(Encoding.DER) for one in lists]


def _read(data: bytes) -> list[x509.CertificateRevocationList]:
    if data.startswith(_DER):
        return [read_crl(data)]
    if data and not data.startswith(_BEGIN):
        return [read_crl(der) for der in decode_revocations(data).crls]
    *blocks, rest = data.split(_END)
    if rest.strip():
        raise ValueError
    return [read_crl(block.lstrip() + _END) for block in blocks]
