"""Read signing requests and take only the key: whatever else one asks for must agree with the
order, or it is refused with the reason.

So nothing that a requester writes becomes part of a certificate, and nobody believes they have been
given what we leave out.
"""

from collections.abc import Iterable

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import NameOID

from gatepost.errors import BadSigningRequest
from gatepost.trust.certificates import Unreadable, key_of, read_request, reading, signed_by
from main_server.ca.authority import Order
from main_server.ca.keys import PublicKey, check_key

MAX_BYTES = 16 * 1024
_HASHES = (hashes.SHA256, hashes.SHA384, hashes.SHA512)


def read_csr(data: bytes) -> x509.CertificateSigningRequest:
    """Read a request, PEM or DER; raise BadSigningRequest unless it is signed by its key and there
    is nothing weak about it."""
    if len(data) > MAX_BYTES:
        raise BadSigningRequest(f"It has more than {MAX_BYTES} bytes.")
    try:
        csr = read_request(data)
        digest, key = signed_by(csr), key_of(csr)
        with reading("the signature"):
            is_signed = csr.is_signature_valid
    except Unreadable:
        raise BadSigningRequest("It can't be read as a PKCS#10 request, PEM or DER.") from None
    if not isinstance(digest, _HASHES):
        name = digest.name.upper() if digest else "another algorithm"
        raise BadSigningRequest(f"It is signed with {name}: use SHA-256 or stronger.")
    check_key(key)
    if not is_signed:
        raise BadSigningRequest("Its signature is not that of its key.")
    return csr


def key_for(csr: x509.CertificateSigningRequest, order: Order) -> PublicKey:
    """Return the key to certify, if all that the request asks for is what the order gives."""
    _check_subject(csr, order)
    for extension in csr.extensions:
        _check_extension(extension, order)
    return check_key(key_of(csr))


def _check_subject(csr: x509.CertificateSigningRequest, order: Order) -> None:
    for attribute in csr.subject:
        if attribute.oid != NameOID.COMMON_NAME:
            what = attribute.rfc4514_attribute_name
            raise BadSigningRequest(f"Its subject has more than a common name: {what}.")
        if attribute.value != order.identity.name:
            raise BadSigningRequest("Its common name is not the name that this is for.")
    if len(list(csr.subject)) > 1:
        raise BadSigningRequest("Its subject has more than one common name.")


def _check_extension(extension: x509.Extension[x509.ExtensionType], order: Order) -> None:
    value = extension.value
    if isinstance(value, x509.SubjectAlternativeName):
        _check_names(value, order)
    elif isinstance(value, x509.BasicConstraints):
        if value.ca:
            raise BadSigningRequest("It asks to be a CA (CA:TRUE).")
    elif isinstance(value, x509.ExtendedKeyUsage):
        if list(value) != [order.usage.value]:
            wanted = f"{order.usage.name.lower()}Auth"
            raise BadSigningRequest(f"Its extended key usage is not {wanted} alone.")
    elif isinstance(value, x509.KeyUsage):
        _check_usage(value)
    elif not isinstance(value, x509.SubjectKeyIdentifier):
        oid = extension.oid.dotted_string
        raise BadSigningRequest(f"It asks for an extension that we don't give: {oid}.")


def _check_usage(value: x509.KeyUsage) -> None:
    signs = value.key_cert_sign or value.crl_sign
    more = value.content_commitment or value.data_encipherment or value.key_agreement
    if signs or more:
        raise BadSigningRequest("Its key usage asks for more than to sign handshakes.")


def _check_names(names: Iterable[x509.GeneralName], order: Order) -> None:
    allowed = {("URI", order.identity.uri), *(("host", host) for host in order.hosts)}
    for name in names:
        if _said(name) not in allowed:
            raise BadSigningRequest("It names somebody or something that this is not for.")


def _said(name: x509.GeneralName) -> tuple[str, str]:
    if isinstance(name, x509.UniformResourceIdentifier):
        return "URI", name.value
    if isinstance(name, x509.DNSName | x509.IPAddress):
        return "host", str(name.value)
    return "other", ""
