"""The rules that every certificate of ours keeps, whoever has signed it: checked once for each
connection.

TLS has verified chain, time and purpose by then. It lets pass what has no purpose at all, what is
version 1, and keys that are weaker than we want: those are refused here, each with a reason of its
own.
"""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

from gatepost.errors import BadIdentity
from gatepost.trust.certificates import Unreadable, find_extension, key_of, reading, signed_by

FOR_CALLING, FOR_BEING_CALLED = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH
RSA_BITS = 3072
CURVES = ("secp256r1", "secp384r1")
HASHES = ("sha256", "sha384", "sha512")


def check_rules(certificate: x509.Certificate, purpose: ObjectIdentifier) -> None:
    """Check that a certificate is good for this purpose, and for no other; raise BadIdentity if it
    isn't."""
    if certificate.version is not x509.Version.v3:
        raise BadIdentity("the certificate is not of version 3")
    check_key(certificate)
    constraints = find_extension(certificate, x509.BasicConstraints)
    if constraints is not None and constraints.ca:
        raise BadIdentity("the certificate is that of a CA")
    usage = find_extension(certificate, x509.KeyUsage)
    if usage is None or not usage.digital_signature or usage.key_cert_sign:
        raise BadIdentity("the certificate's key usage is not that of a signature alone")
    purposes = find_extension(certificate, x509.ExtendedKeyUsage)
    if purposes is None:
        raise BadIdentity("the certificate has no extended key usage")
    if list(purposes) != [purpose]:
        raise BadIdentity("the certificate's extended key usage is not the one that is wanted")


def is_issued_by(one: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Return whether a certificate was signed with the issuer's key and under the issuer's name,
    with nothing in between."""
    try:
        with reading("the signature"):
            one.verify_directly_issued_by(issuer)
    except Unreadable:
        return False
    return True


def check_key(certificate: x509.Certificate) -> None:
    """Check that a certificate has a key of P-256, P-384 or RSA from 3072 bits, and is signed by
    SHA-2; raise BadIdentity if it isn't so."""
    try:
        key, digest = key_of(certificate), signed_by(certificate)
    except Unreadable:
        raise BadIdentity("the certificate's key or signature is of an unknown kind") from None
    good_curve = isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in CURVES
    good_rsa = isinstance(key, rsa.RSAPublicKey) and key.key_size >= RSA_BITS
    if not good_curve and not good_rsa:
        raise BadIdentity(f"the certificate's key is none of P-256, P-384 and RSA from {RSA_BITS}")
    if digest is None or digest.name not in HASHES:
        raise BadIdentity("the certificate's signature is not by SHA-256 or better")
