"""Identities: what a certificate may say of its holder, and all that it may not."""

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from gatepost.errors import BadIdentity
from gatepost.trust.identity import OURS_ALONE, Certificate, Identity, Role, parse_uri
from main_server.ca.authority import utc_now
from tests.factories import Pki, identity

LONG_DOMAIN = f"{'a' * 63}.{'b' * 62}.c"  # 128 characters

NAMES_THAT_MUST_NOT_PASS = [
    "",
    " ",
    "a b",
    "a/b",
    "a\\b",
    ".",
    "..",
    "../admin",
    "a.b",
    "%2e%2e",
    "a%2fb",
    "a:b",
    "a@b",
    "a?b",
    "a#b",
    "a\0",
    "\0",
    "a\n",
    "\na",
    "a\r\n",
    "a\tb",
    "-a",
    "a-",
    "_a",
    "a_",
    "\u0441lient_001",  # a Cyrillic letter that looks like a c
    "client_\uff10\uff10\uff11",  # full-width digits
    "clie\u0301nt",
    "client\u200b001",
    "client_001\u202e",
    "\u2102lient",
    "cl\u0131ent",
    "a" * 65,
]
DOMAINS_THAT_MUST_NOT_PASS = [
    "",
    ".",
    "..",
    "example..com",
    ".example.com",
    "example.com.",
    "Example.com",
    "EXAMPLE.COM",
    "example.com/",
    "example.com/client",
    "exa mple.com",
    "example.com\n",
    "example.com\0",
    "example.com:8001",
    "ex\u0430mple.com",  # a Cyrillic letter that looks like an a
    "m\u00fcnchen.de",
    "example\u3002com",  # an ideographic full stop
    "-example.com",
    "example-.com",
    "exam_ple.com",
    "*.example.com",
    "a" * 64,
    "a." * 64 + "a",  # 129 characters
]


@pytest.mark.parametrize("name", NAMES_THAT_MUST_NOT_PASS)
def test_a_name_that_could_be_taken_for_another_is_refused(name: str) -> None:
    with pytest.raises(BadIdentity):
        Identity("example.com", Role.CLIENT, name)


@pytest.mark.parametrize("domain", DOMAINS_THAT_MUST_NOT_PASS)
def test_a_domain_that_could_be_taken_for_another_is_refused(domain: str) -> None:
    with pytest.raises(BadIdentity):
        Identity(domain, Role.CLIENT, "client_001")


@pytest.mark.parametrize("name", ["a", "A", "0", "client_001", "a-b_c", "a" * 64])
@pytest.mark.parametrize("domain", ["gatepost", "example.com", "a.b-c.d0", LONG_DOMAIN])
@pytest.mark.parametrize("role", list(Role))
def test_an_identity_is_its_uri(domain: str, role: Role, name: str) -> None:
    one = Identity(domain, role, name)
    assert one.uri == f"gatepost://{domain}/{role.value}/{name}"
    if domain != "gatepost" and role in OURS_ALONE:
        with pytest.raises(BadIdentity, match="for the domain gatepost alone"):
            parse_uri(one.uri)
    else:
        assert parse_uri(one.uri) == one


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "gatepost://",
        "gatepost:example.com/client/client_001",
        "http://example.com/client/client_001",
        "GATEPOST://example.com/client/client_001",
        " gatepost://example.com/client/client_001",
        "gatepost://example.com/client",
        "gatepost://example.com/client/",
        "gatepost://example.com/client/a/b",
        "gatepost://example.com//client/a",
        "gatepost://example.com/client/../admin",
        "gatepost://example.com/client/a?role=admin",
        "gatepost://example.com/client/a#admin",
        "gatepost://example.com/Client/a",
        "gatepost://example.com/root/a",
        "gatepost://example.com/client /a",
        "gatepost://user@example.com/client/a",
        "gatepost://example.com:8001/client/a",
        "gatepost://example.com/client/a\n",
        "gatepost://gatepost://example.com/client/a",
    ],
)
def test_what_is_not_exactly_a_uri_of_ours_is_refused(uri: str) -> None:
    with pytest.raises(BadIdentity):
        parse_uri(uri)


@given(st.text())
def test_any_text_is_an_identity_or_refused(text: str) -> None:
    for uri in (text, f"gatepost://{text}", f"gatepost://example.com/client/{text}"):
        try:
            found = parse_uri(uri)
        except BadIdentity:
            continue
        assert found.uri == uri
        assert uri.isascii()


@pytest.mark.parametrize(
    ("client_id", "agrees"),
    [
        ("client_001", True),
        ("example.com:client_001", True),
        ("client_001.example.com", False),
        ("example.com:client_002", False),
        ("example.org:client_001", False),
        ("EXAMPLE.COM:client_001", False),
        ("Client_001", False),
        (":client_001", False),
        ("example.com:", False),
        ("example.com", False),
        (" client_001", False),
        ("client_001\n", False),
        ("", False),
        ("gatepost://example.com/client/client_001", False),
    ],
)
def test_a_client_id_agrees_in_two_forms_and_no_other(client_id: str, agrees: bool) -> None:
    assert identity().answers_to(client_id) is agrees


def test_a_certificate_of_ours_tells_who_holds_it(pki: Pki) -> None:
    for role in Role:
        holder = identity(role, "gatepost", f"{role}-1")
        certificate = pki.issue(holder).certificate
        assert certificate.identity == holder
        assert len(certificate.fingerprint) == 64
        assert len(certificate.serial) == 32


@pytest.mark.parametrize(
    "names",
    [
        None,
        [],
        [x509.DNSName("example.com")],
        [x509.UniformResourceIdentifier("https://example.com/")],
        [
            x509.UniformResourceIdentifier("gatepost://example.com/client/a"),
            x509.UniformResourceIdentifier("gatepost://example.com/admin/a"),
        ],
        [x509.UniformResourceIdentifier("gatepost://example.com/client/..")],
    ],
    ids=["no extension", "empty", "dns only", "another uri", "two uris", "dots"],
)
def test_a_certificate_without_exactly_one_identity_has_none(
    names: list[x509.GeneralName] | None,
) -> None:
    with pytest.raises(BadIdentity):
        _ = self_signed(names).identity


def self_signed(names: list[x509.GeneralName] | None) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    # The common name says what a role would: it must not matter.
    common = x509.Name.from_rfc4514_string("CN=gatepost://example.com/admin/admin")
    builder = (
        x509.CertificateBuilder()
        .subject_name(common)
        .issuer_name(common)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(utc_now())
        .not_valid_after(utc_now() + timedelta(days=1))
    )
    if names is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Certificate(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER))
