"""Who may send: known to the bundle, as what the certificate says; nobody without a bundle."""

import time
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.errors import BadIdentity, IdentityMismatch, Unavailable, UnknownCertificate
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Certificate, Role
from gatepost.wire.bundle import Bundle, KnownAnchor, KnownClient
from gatepost.wire.renewal import SURE_SECONDS
from proxy.senders import Senders
from tests.factories import DOMAIN, Pair, Pki, bundle, changed, identity, known_client
from tests.partner import PartnerCa


@pytest.fixture(scope="module")
def pair(pki: Pki) -> Pair:
    return pki.issue(identity())


def learned(*clients: KnownClient, **given: Any) -> Senders:
    senders = Senders()
    senders.learn(bundle(*clients, **given))
    senders.confirm(time.monotonic())
    return senders


def client_of(pair: Pair, **given: object) -> KnownClient:
    return known_client(pair.certificate.fingerprint, **given)


def test_a_known_certificate_is_its_client(pair: Pair) -> None:
    known = client_of(pair)
    assert learned(known).identify(pair.certificate) == known


def test_without_a_bundle_nobody_can_be_told_from_anybody(pair: Pair) -> None:
    senders = Senders()
    assert senders.problem
    with pytest.raises(Unavailable):
        senders.identify(pair.certificate)
    senders.learn(bundle(client_of(pair)))
    assert senders.problem is None


def test_what_the_bundle_does_not_know_is_refused_whoever_signed_it(pki: Pki, pair: Pair) -> None:
    for unknown in (pki.issue(identity()), pki.issue(identity(Role.ADMIN, "gatepost", "admin"))):
        with pytest.raises(UnknownCertificate):
            learned(client_of(pair)).identify(unknown.certificate)


def test_who_has_not_heard_for_a_while_cannot_tell_who_is_unknown(pki: Pki, pair: Pair) -> None:
    """It may be new: a renewed certificate must not be refused by a proxy that is cut off."""
    new, senders = pki.issue(identity()), learned(client_of(pair))
    senders.confirm(time.monotonic() - SURE_SECONDS - 0.1)
    with pytest.raises(Unavailable):
        senders.identify(new.certificate)
    assert senders.identify(pair.certificate) == client_of(pair)


@pytest.mark.parametrize(
    "given", [{"name": "client_002"}, {"domain": "example.org"}, {"name": "CLIENT_001"}]
)
def test_a_certificate_that_says_another_name_than_the_ledger_is_refused(
    pair: Pair, given: dict[str, str]
) -> None:
    with pytest.raises(UnknownCertificate):
        learned(client_of(pair, **given)).identify(pair.certificate)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.CLIENT])
def test_another_role_under_a_known_fingerprint_is_refused(pki: Pki, role: Role) -> None:
    pair = pki.issue(identity(role, INFRASTRUCTURE_DOMAIN))
    with pytest.raises(UnknownCertificate):
        learned(client_of(pair)).identify(pair.certificate)


def test_a_client_of_a_domain_that_is_not_configured_is_refused(pair: Pair) -> None:
    with pytest.raises(UnknownCertificate):
        learned(client_of(pair), domains=[]).identify(pair.certificate)


def test_what_a_new_bundle_leaves_out_is_out(pair: Pair) -> None:
    senders = learned(client_of(pair))
    senders.learn(bundle())
    with pytest.raises(UnknownCertificate):
        senders.identify(pair.certificate)


def test_of_a_domain_that_a_new_bundle_leaves_out_nothing_more_is_said(pair: Pair) -> None:
    """A request may be half-way when its domain is disabled."""
    senders = learned(client := client_of(pair))
    assert senders.domain_of(client).name == DOMAIN
    senders.learn(bundle(domains=[]))
    with pytest.raises(UnknownCertificate):
        senders.domain_of(client)
    senders.confirm(time.monotonic() - SURE_SECONDS - 0.1)
    with pytest.raises(Unavailable):
        senders.domain_of(client)


def anchored(ca: PartnerCa, domain: str = DOMAIN, key: str = "aa") -> KnownAnchor:
    der = ca.certificate.public_bytes(Encoding.DER)
    return KnownAnchor(key=key, domain=domain, certificate=der)


def of(ca: PartnerCa, **given: Any) -> Certificate:
    pem, _ = ca.sign(**given)
    return Certificate(x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER))


def test_one_of_a_partners_ca_is_who_it_was_registered_as() -> None:
    ca = PartnerCa()
    certificate, anchor = of(ca, name="whatever it says"), anchored(ca)
    known = known_client(certificate.fingerprint, anchor="aa")
    senders = learned(known, anchors=[anchor])
    assert senders.anchor_of(certificate) == anchor
    assert senders.identify(certificate, anchor) == known
    assert senders.anchors == [anchor.certificate]
    unknown = of(ca)
    assert senders.anchor_of(unknown) == anchor
    with pytest.raises(UnknownCertificate):
        senders.identify(unknown, anchor)
    senders.learn(bundle(known))
    assert senders.anchor_of(certificate) is None
    with pytest.raises(UnknownCertificate):
        senders.identify(certificate)


@pytest.mark.parametrize(
    ("given", "anchor"),
    [
        ({"domain": "gatepost"}, {}),
        ({}, {"domain": "gatepost"}),
        ({"anchor": "bb"}, {}),
        ({"anchor": None}, {}),
    ],
)
def test_under_another_domains_anchor_it_is_nobody(
    given: dict[str, Any], anchor: dict[str, Any]
) -> None:
    """As in a bundle that nobody should have made."""
    ca = PartnerCa()
    certificate, known_anchor = of(ca), anchored(ca, **anchor)
    known = known_client(certificate.fingerprint, **({"anchor": "aa"} | given))
    senders = learned(known, anchors=[known_anchor])
    for anyhow in (known_anchor, None):
        with pytest.raises((UnknownCertificate, BadIdentity)):
            senders.identify(certificate, anyhow)


def test_one_that_names_somebody_else_than_it_was_registered_as_is_refused() -> None:
    ca = PartnerCa()
    certificate = of(ca, uris=(f"gatepost://{DOMAIN}/client/else",))
    senders = learned(known_client(certificate.fingerprint, anchor="aa"), anchors=[anchored(ca)])
    with pytest.raises(UnknownCertificate):
        senders.identify(certificate, anchored(ca))


def test_ours_is_of_no_anchor(pair: Pair) -> None:
    senders = learned(client_of(pair), anchors=[anchored(PartnerCa())])
    assert senders.anchor_of(pair.certificate) is None
    assert senders.identify(pair.certificate) == client_of(pair)


@pytest.mark.parametrize(
    "host",
    [
        None,
        b"",
        b"example.com",
        b"EXAMPLE.COM",
        b"example.com:8001",
        b"example.com.:8001",
        b"localhost",
        b"127.0.0.1:8001",
        b"[::1]:8001",
        b"gatepost.example",
        b"\xff\xfe",
        b"a" * 10_000,
    ],
)
def test_a_host_that_names_no_other_domain_agrees(pair: Pair, host: bytes | None) -> None:
    known = client_of(pair)
    learned(known).check_host(host, known)


@pytest.mark.parametrize(
    "host", [b"gatepost", b"GATEPOST", b"gatepost:8001", b"gatepost.", b"Gatepost.:443"]
)
def test_a_host_that_names_another_domain_disagrees(pair: Pair, host: bytes) -> None:
    known = client_of(pair)
    with pytest.raises(IdentityMismatch):
        learned(known).check_host(host, known)


def test_the_bundle_holds_nothing_that_opens_a_message() -> None:
    """I7: its fields are known; whoever adds one has to think about it."""
    assert set(Bundle.__struct_fields__) == {
        "sealing_key",
        "mac_key",
        "domains",
        "clients",
        "anchors",
        "max_lifetime_seconds",
    }
    one = bundle()
    assert set(type(one.sealing_key).__slots__) == {"kid", "public", "use_until"}
    assert changed(one, clients=[]) == one
