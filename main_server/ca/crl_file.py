"""The list of what is revoked as a file, for those who check certificates with other programs.

PEM, one block for each intermediate that is trusted now. It is written by
`main_server.ca.recovery.follow` alone, because it may know what the ledger has forgotten.
"""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.errors import ConfigurationError
from gatepost.revocation import Revocations
from gatepost.whole_file import replace_file

_MODE = 0o644
_END = b"-----END X509 CRL-----\n"


def to_pem(revocations: Revocations) -> bytes:
    lists = [x509.load_der_x509_crl(der) for der in revocations.crls]
    return b"".join(one.public_bytes(Encoding.PEM) for one in lists)


def write_crl_file(file: Path, revocations: Revocations) -> bool:
    """Whether it was another one. Raises ConfigurationError if it can't be written."""
    pem = to_pem(revocations)
    try:
        if file.exists() and file.read_bytes() == pem:
            return False
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, pem)
        file.chmod(_MODE)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be written: {error.strerror}") from None
    return True


def read_crl_file(file: Path) -> list[bytes]:
    """The lists in it, DER; none if it isn't there. Raises ConfigurationError if one is damaged."""
    try:
        *blocks, rest = file.read_bytes().split(_END)
        if rest.strip():
            raise ValueError
        lists = [x509.load_pem_x509_crl(block + _END) for block in blocks]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        words = "what a restored ledger has forgotten may be in it: bring an undamaged copy back"
        raise ConfigurationError(f"{file} can't be read: {reason}; {words}") from None
    return [one.public_bytes(Encoding.DER) for one in lists]
