"""Signing requests: only the key is taken, and what asks for more is refused with the reason."""

import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from gatepost.errors import BadOrder, BadSigningRequest
from gatepost.trust.identity import OURS_ALONE, Identity, Role
from main_server.ca.authority import Order, Usage, new_key
from main_server.ca.csr import MAX_BYTES, key_for, read_csr
from main_server.ca.profiles import PROFILES, make_order
from tests.csrs import make_csr
from tests.factories import identity
from tests.forging import altered

ORDER = Order(identity(), Usage.CLIENT, timedelta(days=1))
SERVER = Order(
    Identity("gatepost", Role.PROXY, "proxy-1"),
    Usage.SERVER,
    timedelta(days=1),
    ("proxy.example.com", "10.0.0.1"),
)


def read(data: bytes, order: Order = ORDER) -> Any:
    return key_for(read_csr(data), order)


def uri(text: str) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([x509.UniformResourceIdentifier(text)])


def usage(**given: bool) -> x509.KeyUsage:
    names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment")
    more = ("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    return x509.KeyUsage(**(dict.fromkeys(names + more, False) | given))


@pytest.mark.parametrize(
    "make_key",
    [
        lambda: ec.generate_private_key(ec.SECP256R1()),
        lambda: ec.generate_private_key(ec.SECP384R1()),
        lambda: rsa.generate_private_key(65537, 3072),
    ],
    ids=["P-256", "P-384", "RSA-3072"],
)
def test_strong_keys_are_taken(make_key: Callable[[], Any]) -> None:
    key = make_key()
    assert read(make_csr(key=key, name="client_001")) == key.public_key()
    der = x509.load_pem_x509_csr(make_csr(key=key)).public_bytes(Encoding.DER)
    assert read(der) == key.public_key()


@pytest.mark.parametrize(
    ("make_key", "reason"),
    [
        (lambda: rsa.generate_private_key(65537, 2048), "2048 bits"),
        (lambda: rsa.generate_private_key(3, 3072), "exponent"),
        (lambda: ec.generate_private_key(ec.SECP224R1()), "not P-256"),
        (lambda: ec.generate_private_key(ec.SECP521R1()), "not P-256"),
        (lambda: ec.generate_private_key(ec.SECP256K1()), "not P-256"),
    ],
)
def test_other_keys_are_refused_with_the_reason(make_key: Callable[[], Any], reason: str) -> None:
    with pytest.raises(BadSigningRequest, match=reason):
        read(make_csr(key=make_key()))


def test_a_key_of_another_kind_is_refused() -> None:
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    csr = builder.sign(ed25519.Ed25519PrivateKey.generate(), None).public_bytes(Encoding.PEM)
    with pytest.raises(BadSigningRequest):
        read(csr)


@pytest.mark.parametrize("digest", ["sha1", "md5"])
def test_a_weak_signature_is_refused(tmp_path: Path, digest: str) -> None:
    command = ["openssl", "req", "-new", "-newkey", "rsa:3072", "-nodes", f"-{digest}"]
    command += ["-subj", "/CN=client_001", "-keyout", str(tmp_path / "k"), "-out"]
    command += [str(tmp_path / "csr")]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    with pytest.raises(BadSigningRequest, match=r"SHA-256|can't be read"):
        read((tmp_path / "csr").read_bytes())


def test_no_byte_of_what_it_asks_can_be_altered() -> None:
    """Behind what is signed a bit is spare: how many of the signature's last bits aren't used."""
    original = x509.load_pem_x509_csr(make_csr())
    for other in altered(original.public_bytes(Encoding.DER)):
        try:
            found = read_csr(other)
        except BadSigningRequest:
            continue
        assert found.tbs_certrequest_bytes == original.tbs_certrequest_bytes


def test_what_openssl_makes_is_taken(tmp_path: Path) -> None:
    command = ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-subj", "/CN=client_001", "-keyout", str(tmp_path / "k"), "-out"]
    command += [str(tmp_path / "csr"), "-addext", f"subjectAltName=URI:{ORDER.identity.uri}"]
    command += ["-addext", "extendedKeyUsage=clientAuth", "-addext", "basicConstraints=CA:FALSE"]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    assert read((tmp_path / "csr").read_bytes())


def test_a_signature_of_another_key_is_refused() -> None:
    csr = x509.load_pem_x509_csr(make_csr()).public_bytes(Encoding.DER)
    other = x509.load_pem_x509_csr(make_csr()).public_bytes(Encoding.DER)
    signature = x509.load_der_x509_csr(other).signature
    mine = x509.load_der_x509_csr(csr).signature
    if len(signature) == len(mine):
        with pytest.raises(BadSigningRequest, match="signature"):
            read(csr.replace(mine, signature))
    broken = bytearray(csr)
    broken[csr.index(mine) - 40] ^= 1
    with pytest.raises(BadSigningRequest):
        read(bytes(broken))


@pytest.mark.parametrize(
    ("extension", "reason"),
    [
        (x509.BasicConstraints(ca=True, path_length=None), "CA:TRUE"),
        (usage(key_cert_sign=True), "key usage"),
        (usage(crl_sign=True), "key usage"),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), "clientAuth"),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]), "clientAuth"),
        (
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.OCSP_SIGNING]
            ),
            "clientAuth",
        ),
        (uri("gatepost://example.com/admin/client_001"), "names somebody"),
        (uri("gatepost://example.org/client/client_001"), "names somebody"),
        (uri("https://example.com"), "names somebody"),
        (x509.SubjectAlternativeName([x509.DNSName("proxy.example.com")]), "names somebody"),
        (x509.SubjectAlternativeName([x509.RFC822Name("a@example.com")]), "names somebody"),
        (
            x509.SubjectAlternativeName(
                [x509.UniformResourceIdentifier(u) for u in (ORDER.identity.uri, "x://y")]
            ),
            "names somebody",
        ),
        (x509.OCSPNoCheck(), "1.3.6.1.5.5.7.48.1.5"),
        (x509.UnrecognizedExtension(ObjectIdentifier("1.2.3.4"), b"\x05\x00"), "1.2.3.4"),
        (x509.NameConstraints([x509.DNSName("example.com")], None), "2.5.29.30"),
        (x509.InhibitAnyPolicy(0), "2.5.29.54"),
    ],
)  # fmt: skip
def test_whoever_asks_for_more_is_refused_with_the_reason(
    extension: x509.ExtensionType, reason: str
) -> None:
    with pytest.raises(BadSigningRequest, match=reason):
        read(make_csr(extensions=(extension,)))


def test_what_the_order_gives_may_be_asked_for() -> None:
    extensions = (
        x509.BasicConstraints(ca=False, path_length=None),
        usage(digital_signature=True, key_encipherment=True),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),
        uri(ORDER.identity.uri),
    )
    assert read(make_csr(extensions=extensions, algorithm=SHA384()))
    hosts = x509.SubjectAlternativeName([x509.DNSName("proxy.example.com")])
    assert read(make_csr(extensions=(hosts,)), SERVER)
    other = x509.SubjectAlternativeName([x509.DNSName("*.example.com")])
    with pytest.raises(BadSigningRequest):
        read(make_csr(extensions=(other,)), SERVER)


@pytest.mark.parametrize("name", ["client_002", "admin", "CLIENT_001", "client_001 "])
def test_a_common_name_of_another_is_refused(name: str) -> None:
    with pytest.raises(BadSigningRequest, match="common name"):
        read(make_csr(name=name))


def test_a_subject_with_more_than_a_common_name_is_refused() -> None:
    for attributes in (
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example")],
        [x509.NameAttribute(NameOID.COMMON_NAME, "client_001")] * 2,
    ):
        builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(attributes))
        csr = builder.sign(new_key(), SHA384()).public_bytes(Encoding.PEM)
        with pytest.raises(BadSigningRequest, match="subject"):
            read(csr)


@pytest.mark.parametrize(
    "data",
    [b"", b"nothing", b"-----BEGIN CERTIFICATE REQUEST-----\n-----", b"0" * (MAX_BYTES + 1)],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(BadSigningRequest):
        read(data)


def test_each_role_has_a_profile() -> None:
    assert set(PROFILES) == set(Role)


@pytest.mark.parametrize(
    ("holder", "given"),
    [
        (identity(), {"usage": Usage.SERVER, "hosts": ("a.example.com",)}),
        (identity(), {"hosts": ("a.example.com",)}),
        (identity(), {"lifetime": timedelta(days=91)}),
        (identity(), {"lifetime": timedelta(seconds=1)}),
        (Identity("gatepost", Role.CLIENT, "a"), {}),
        (Identity("gatepost", Role.MAIN, "a"), {"usage": Usage.CLIENT}),
        (Identity("gatepost", Role.MAIN, "a"), {}),
        (Identity("gatepost", Role.MAIN, "a"), {"hosts": ("*.example.com",)}),
        (Identity("gatepost", Role.MAIN, "a"), {"hosts": ("EXAMPLE.com",)}),
        (Identity("gatepost", Role.MAIN, "a"), {"hosts": ("a.example.com\n",)}),
        (Identity("gatepost", Role.MAIN, "a"), {"hosts": ("1.2.3",)}),
        (Identity("gatepost", Role.MAIN, "a"), {"hosts": ("",)}),
        (Identity("gatepost", Role.WORKER, "a"), {"usage": Usage.SERVER, "hosts": ("a",)}),
        *((Identity("example.com", role, "a"), {}) for role in OURS_ALONE),
        (Identity("example.com", Role.MAIN, "a"), {"hosts": ("a",)}),
    ],
)
def test_nobody_is_given_what_its_role_does_not_have(
    holder: Identity, given: dict[str, Any]
) -> None:
    with pytest.raises(BadOrder):
        make_order(holder, **given)
