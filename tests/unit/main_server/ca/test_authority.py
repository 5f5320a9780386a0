"""Signing: what a certificate says, what it may be used for, and what it may not."""

from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gatepost.errors import ConfigurationError
from gatepost.trust.identity import Role
from main_server.ca.authority import (
    Order,
    Usage,
    load_authority,
    new_key,
    new_serial,
    utc_now,
)
from main_server.ca.founding import init_authority, read_pins
from tests.factories import Pki, identity


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert init_authority(tmp_path / "ca", utc_now()) is True
    return tmp_path / "ca"


def load(file: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def test_serials_are_different_and_of_one_length() -> None:
    made = {new_serial() for _ in range(10_000)}
    assert len(made) == 10_000
    assert {len(f"{serial:032x}") for serial in made} == {32}
    assert all(serial.bit_length() <= 159 for serial in made), "RFC 5280: at most 20 octets"
    assert len({serial >> 100 for serial in made}) > 9_000, "the upper bits are random, too"


def test_an_authority_is_made_once(folder: Path) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert init_authority(folder, utc_now()) is False
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_nobody_else_can_read_its_keys(folder: Path) -> None:
    assert folder.stat().st_mode & 0o077 == 0
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600


def test_the_root_signs_the_intermediate_and_nothing_below_it_signs(folder: Path) -> None:
    root, intermediate = load(folder / "root.pem"), load(folder / "intermediate.pem")
    root.verify_directly_issued_by(root)
    intermediate.verify_directly_issued_by(root)
    for certificate, length in ((root, 1), (intermediate, 0)):
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
        assert constraints.critical
        assert (constraints.value.ca, constraints.value.path_length) == (True, length)
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
        assert (usage.key_cert_sign, usage.crl_sign, usage.digital_signature) == (True, True, False)
        assert certificate.version is x509.Version.v3


@pytest.mark.parametrize("usage", list(Usage))
def test_a_leaf_says_who_holds_it_and_does_for_one_thing(pki: Pki, usage: Usage) -> None:
    holder = identity(Role.PROXY, "gatepost", "proxy-1")
    pair = pki.issue(holder, usage, timedelta(days=7), ("localhost", "127.0.0.1", "::1"))
    leaf = pair.x509
    assert pair.certificate.identity == holder
    (name,) = leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert name.value == "proxy-1"
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.UniformResourceIdentifier) == [holder.uri]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(a) for a in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    extended = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    assert extended.critical
    both = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH}
    assert set(extended.value) & both == {usage.value}
    constraints = leaf.extensions.get_extension_for_class(x509.BasicConstraints)
    assert constraints.critical
    assert constraints.value.ca is False
    assert leaf.not_valid_after_utc - utc_now() <= timedelta(days=7)
    key = leaf.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert isinstance(key.curve, ec.SECP256R1)


def test_a_leaf_does_not_outlive_the_one_that_it_is_verified_by(folder: Path) -> None:
    authority = load_authority(folder)
    end = authority.certificate.not_valid_after_utc
    order, key = Order(identity(), Usage.CLIENT, timedelta(days=90)), new_key().public_key()
    for left in (timedelta(days=1), timedelta(days=89)):
        leaf = authority.sign(order, key, new_serial(), end - left)
        assert leaf.not_valid_after_utc == authority.ends_at(order, end - left) == end
    early = end - timedelta(days=91)
    assert authority.ends_at(order, early) == early + timedelta(days=90)


def test_a_chain_holds_leaf_and_intermediate_and_verifies(pki: Pki) -> None:
    pair = pki.issue(identity())
    leaf, intermediate = x509.load_pem_x509_certificates(pair.cert.read_bytes())
    leaf.verify_directly_issued_by(intermediate)
    intermediate.verify_directly_issued_by(load(pair.ca))
    assert b"PRIVATE" not in pair.cert.read_bytes()


@pytest.mark.parametrize("broken", ["intermediate.pem", "intermediate.key"])
@pytest.mark.parametrize("content", [None, b"nothing"])
def test_an_authority_that_can_not_be_used_says_so(
    folder: Path, broken: str, content: bytes | None
) -> None:
    (folder / broken).unlink()
    if content is not None:
        (folder / broken).write_bytes(content)
    with pytest.raises(ConfigurationError, match="can't be used"):
        load_authority(folder)


def test_one_that_is_retired_while_the_pins_are_read_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_pins(folder)
    monkeypatch.setattr(Path, "exists", lambda _file: True)  # it was, a moment ago
    assert read_pins(folder) == before


def test_what_peers_are_to_trust_is_certificates_alone(folder: Path) -> None:
    pins = read_pins(folder)
    assert len(x509.load_pem_x509_certificates(pins)) == 2
    assert b"PRIVATE" not in pins
