"""Pack a key and its certificate into a file with a password (PKCS#12), for programs that want
that."""

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    pkcs12,
)

from gatepost.errors import Invalid
from gatepost.trust.certificates import read_certificates, read_private_key
from main_server.ca.service import Issued

FEWEST_CHARACTERS = 8


def check_password(password: str) -> None:
    """Check a password; raise Invalid, before anything is issued whose key would be lost then."""
    if len(password) < FEWEST_CHARACTERS:
        raise Invalid(f"The password has less than {FEWEST_CHARACTERS} characters.")
    if not password.isprintable():  # openssl, for one, reads no further than to a NUL
        raise Invalid("The password has a character that can't be printed.")


def to_pkcs12(issued: Issued, name: str, password: str) -> bytes:
    check_password(password)
    key = read_private_key(issued.key_pem)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    leaf, *above = read_certificates(issued.chain_pem)
    encryption = BestAvailableEncryption(password.encode())
    return pkcs12.serialize_key_and_certificates(name.encode(), key, leaf, above, encryption)
