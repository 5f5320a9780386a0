"""A view of revoked certificates: signed lists only, never an older one, and never a guess (I8)."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.clock import Clock
from gatepost.errors import RevokedCertificate, Unavailable, UnknownCertificate
from gatepost.trust.anchors import listed_number
from gatepost.trust.identity import Certificate
from gatepost.trust.revocation import Revocations
from gatepost.trust.revoked import LIMIT_SECONDS, NotBelieved, Revoked, open_view
from gatepost.trust.tls import read_trusted
from main_server.ca.authority import new_serial
from main_server.ca.crl import LIFETIME
from tests.factories import Pair, Pki, identity
from tests.lists import Issuer
from tests.partner import PartnerCa


def fresh(view: Revoked) -> None:
    view.confirm(time.monotonic())


def test_who_is_on_the_list_is_out_and_nobody_else(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    other = issuer.pki.issue(identity())
    view.learn(issuer.state(pair))
    fresh(view)
    with pytest.raises(RevokedCertificate):
        view.check(pair.certificate)
    view.check(other.certificate)
    assert view.problem is None


def test_who_is_no_longer_on_it_is_back(view: Revoked, issuer: Issuer, pair: Pair) -> None:
    view.learn(issuer.state(pair))
    view.learn(issuer.state())
    fresh(view)
    view.check(pair.certificate)


def test_a_list_of_another_authority_proves_nothing(
    view: Revoked, issuer: Issuer, pair: Pair, tmp_path: Path
) -> None:
    """Of the same name, too."""
    stranger = Issuer(tmp_path / "stranger")
    for state in (stranger.state(pair), Revocations(1, []), Revocations(1, [b"", b"\x30\x00"])):
        with pytest.raises(NotBelieved):
            view.learn(state)
    assert not view.serials
    assert view.version == 0


def test_a_list_that_was_altered_proves_nothing(view: Revoked, issuer: Issuer, pair: Pair) -> None:
    [der] = issuer.state(pair).crls
    serial = pair.x509.serial_number.to_bytes(16, "big")
    assert serial in der
    with pytest.raises(NotBelieved):
        view.learn(Revocations(1, [der.replace(serial, serial[::-1])]))


def test_an_older_list_is_not_gone_back_to(view: Revoked, issuer: Issuer, pair: Pair) -> None:
    """Whatever number its carrier gives it: that one nobody has signed."""
    [before], after = issuer.state().crls, issuer.state(pair)
    view.learn(after)
    with pytest.raises(NotBelieved, match="older"):
        view.learn(Revocations(after.number + 1_000_000, [before]))
    fresh(view)
    with pytest.raises(RevokedCertificate):
        view.check(pair.certificate)


def test_a_carrier_that_leaves_an_issuer_out_frees_nobody(issuer: Issuer, tmp_path: Path) -> None:
    second = Issuer(tmp_path / "second")
    pins = tmp_path / "pins.pem"
    pins.write_bytes(issuer.pins.read_bytes() + second.pins.read_bytes())
    view = open_view(pins, Clock())
    first_pair, second_pair = issuer.pki.issue(identity()), second.pki.issue(identity())
    both = issuer.state(first_pair).crls + second.state(second_pair).crls
    view.learn(Revocations(1, both))
    view.learn(issuer.state(first_pair))
    fresh(view)
    for one in (first_pair, second_pair):
        with pytest.raises(RevokedCertificate):
            view.check(one.certificate)


def test_nobody_is_let_in_before_somebody_has_confirmed_the_view(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    assert view.problem == "no list of revoked certificates yet that our ca_file's CA has signed"
    view.learn(issuer.state())
    with pytest.raises(Unavailable):
        view.check(pair.certificate)
    assert view.problem == "nobody has confirmed for 1 s which certificates are revoked"
    fresh(view)
    view.check(pair.certificate)


def test_what_was_asked_too_long_ago_counts_no_more(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    """From when it was asked, not from when it was answered."""
    view.learn(issuer.state())
    view.confirm(time.monotonic() - LIMIT_SECONDS - 0.001)
    with pytest.raises(Unavailable):
        view.check(pair.certificate)
    view.confirm(time.monotonic() - LIMIT_SECONDS + 0.5)
    view.check(pair.certificate)
    view.confirm(time.monotonic() - 100)  # one that was slow takes nothing away
    view.check(pair.certificate)


def test_a_revoked_certificate_is_told_so_however_old_the_view_is(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    view.learn(issuer.state(pair))
    with pytest.raises(RevokedCertificate):
        view.check(pair.certificate)


def test_past_its_next_update_a_list_lets_nobody_in(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    view.learn(issuer.state(at=datetime.now(UTC) - LIFETIME - timedelta(seconds=7)))
    fresh(view)
    with pytest.raises(Unavailable):
        view.check(pair.certificate)
    assert view.problem is not None
    assert "past its time" in view.problem
    assert -60 < view.seconds_left < 0
    view.learn(issuer.state())
    fresh(view)
    view.check(pair.certificate)
    assert 0 < view.age_seconds < 3600
    assert view.seconds_left > 3600


def test_an_issuer_that_is_not_pinned_is_not_guessed_about(
    view: Revoked, issuer: Issuer, tmp_path: Path
) -> None:
    stranger = Pki(tmp_path / "stranger").issue(identity())
    view.learn(issuer.state())
    fresh(view)
    with pytest.raises(UnknownCertificate):
        view.check(stranger.certificate)
    assert view.refusal(stranger.certificate) == "its issuer is not in our ca_file"


def test_who_is_pinned_later_is_believed_and_who_is_no_more_is_not(
    view: Revoked, issuer: Issuer, tmp_path: Path
) -> None:
    """An intermediate is replaced: both are trusted for a while, then the new one alone."""
    second = Issuer(tmp_path / "second")
    old, new = issuer.pki.issue(identity()), second.pki.issue(identity())
    out = issuer.pki.issue(identity())
    both = Revocations(1, issuer.state(out).crls + second.state().crls)
    view.learn(both)
    fresh(view)
    with pytest.raises(UnknownCertificate):
        view.check(new.certificate)
    version = view.version
    view.trust(read_trusted(issuer.pins) + read_trusted(second.pins))
    assert view.version > version, "so that sources are asked for everything again"
    view.learn(both)
    fresh(view)
    for one in (old, new):
        view.check(one.certificate)
    with pytest.raises(RevokedCertificate):
        view.check(out.certificate)
    view.trust(read_trusted(second.pins))
    view.check(new.certificate)
    for one in (old, out):
        with pytest.raises(UnknownCertificate):
            view.check(one.certificate)
        assert view.refusal(one.certificate) == "its issuer is not in our ca_file"
    view.learn(both)
    fresh(view)
    assert view.problem is None


def test_only_what_is_new_is_cut(view: Revoked, issuer: Issuer) -> None:
    first, second = issuer.pki.issue(identity()), issuer.pki.issue(identity())
    cut: list[list[bool]] = []
    view.when_revoked(
        lambda is_out: cut.append([is_out(first.certificate), is_out(second.certificate)])
    )
    view.learn(issuer.state(first))
    state = issuer.state(first, second)
    view.learn(state)
    view.learn(state)
    assert cut == [[True, False], [True, True]]
    assert view.version == 2


def test_serials_of_different_issuers_are_different_certificates(
    view: Revoked, issuer: Issuer
) -> None:
    """A CA that isn't ours may number as ours does. Its certificates have numbers of their own."""
    ours = issuer.pki.issue(identity())
    key = ec.generate_private_key(ec.SECP256R1())
    theirs = foreign(ours.x509.serial_number, key)
    view.learn(issuer.state(ours))
    fresh(view)
    assert view.is_revoked(ours.certificate)
    view.check(theirs, is_ours=False)
    view.learn(issuer.state(numbers=[int(theirs.listed_number, 16)]))
    with pytest.raises(RevokedCertificate):
        view.check(theirs, is_ours=False)
    view.check(ours.certificate)


def test_one_that_lies_about_its_issuer_is_out_by_its_own_number(
    view: Revoked, issuer: Issuer
) -> None:
    liar = foreign(7, issuer.authority.certificate.public_key())
    assert liar.issuer == issuer.authority.kid
    view.learn(issuer.state(numbers=[int(liar.listed_number, 16)]))
    assert view.is_revoked(liar)


def foreign(serial: int, names: Any) -> Certificate:
    """Of a partner's CA; it says that the holder of this key has signed it."""
    ca, now = PartnerCa(), datetime.now(UTC)
    public = names if not hasattr(names, "public_key") else names.public_key()
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(public)
    builder = (
        x509.CertificateBuilder()
        .subject_name(ca.certificate.subject)
        .issuer_name(ca.certificate.subject)
        .public_key(ca.key.public_key())
        .serial_number(serial)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(identifier, critical=False)
    )
    return Certificate(builder.sign(ca.key, SHA256()).public_bytes(Encoding.DER))


def test_a_caller_is_told_why_a_certificate_will_not_do(
    view: Revoked, issuer: Issuer, pair: Pair
) -> None:
    assert view.refusal(pair.certificate) is None
    view.learn(issuer.state(pair))
    assert view.refusal(pair.certificate) == "it was revoked"


@pytest.mark.parametrize("fingerprint", ["00" * 32, "7f" * 32, "ff" * 32])
def test_no_number_of_theirs_is_a_serial_of_ours(fingerprint: str) -> None:
    """Whatever its CA has made of it: all of ours begin with a bit that isn't set."""
    assert int(listed_number(fingerprint), 16) >> 127 == 1
    assert not any(new_serial() >> 127 for _ in range(100))
