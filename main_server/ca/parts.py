"""The parts that our certificates are made of, and their PEM."""

from collections.abc import Sequence
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID

from gatepost.trust.certificates import find_extension
from main_server.ca.keys import PublicKey


def begin(name: str, key: PublicKey, serial: int) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(common_name(name))
        .public_key(key)
        .serial_number(serial)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def alternative_names(uri: str, hosts: Sequence[str]) -> x509.SubjectAlternativeName:
    names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(uri)]
    for host in hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
        except ValueError:
            names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def hosts_of(certificate: x509.Certificate) -> list[str]:
    """Return the names and addresses beside its holder's URI; none where it has only a common
    name."""
    names = find_extension(certificate, x509.SubjectAlternativeName) or ()
    return [str(name.value) for name in names if isinstance(name, x509.DNSName | x509.IPAddress)]


def authority_key(key: ec.EllipticCurvePublicKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key)


def crl_points(public_url: str, kid: str) -> x509.CRLDistributionPoints:
    uri = x509.UniformResourceIdentifier(f"{public_url}/crl/{kid}.crl")
    return x509.CRLDistributionPoints([x509.DistributionPoint([uri], None, None, None)])


def information_access(public_url: str, kid: str) -> x509.AuthorityInformationAccess:
    where = {
        AuthorityInformationAccessOID.OCSP: f"{public_url}/ocsp",
        AuthorityInformationAccessOID.CA_ISSUERS: f"{public_url}/ca/{kid}.cer",
    }
    return x509.AuthorityInformationAccess(
        [x509.AccessDescription(o, x509.UniformResourceIdentifier(u)) for o, u in where.items()]
    )


def key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def to_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_to_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
