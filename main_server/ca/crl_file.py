"""The list of what is revoked as a file, for those who check certificates with other programs.

PEM, one block for each intermediate that is trusted now.
"""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.errors import ConfigurationError
from gatepost.revocation import Revocations
from gatepost.whole_file import replace_file

_MODE = 0o644


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
