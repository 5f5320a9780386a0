"""Lists as they are signed: each entry is found, and each altered byte of what was signed, too."""

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.service.revocation import Poller
from gatepost.trust.revocation import Reason, Revocations
from gatepost.trust.revoked import Revoked, key_id
from gatepost.trust.signed_list import SignedList, read_list
from main_server.ca.authority import new_serial
from main_server.ca.crl import LIFETIME, Entry, build_crl
from main_server.ca.parts import authority_key
from tests.forging import altered
from tests.lists import Issuer


def signed(issuer: Issuer, serials: list[int]) -> bytes:
    now = datetime.now(UTC)
    entries = [Entry(one, Reason.KEY_COMPROMISE, now) for one in serials]
    return build_crl(issuer.authority, entries, now, None).der


def read(issuer: Issuer, der: bytes) -> SignedList | None:
    certificate = issuer.authority.certificate
    found = read_list(der, {key_id(certificate): certificate})
    return found[1] if found else None


@pytest.mark.parametrize("number", [0, 1, 2, 3, 2000])
def test_each_entry_is_there_whatever_the_length(issuer: Issuer, number: int) -> None:
    """The length decides in how many octets the lengths before it are written."""
    serials = [new_serial() for _ in range(number)]
    found = read(issuer, signed(issuer, serials))
    assert found is not None
    assert found.serials == {f"{one:032x}" for one in serials}
    assert 0 < found.until_ms - found.made_ms <= LIFETIME.total_seconds() * 1000 + 3_600_000


@pytest.mark.filterwarnings("ignore:Parsed a serial number")
def test_no_byte_of_what_it_says_can_be_altered(issuer: Issuer) -> None:
    """Behind what is signed a bit is spare: how many of the signature's last bits aren't used."""
    der = signed(issuer, [new_serial()])
    original = read(issuer, der)
    assert original is not None
    for other in altered(der):
        found = read(issuer, other)
        assert found is None or replace(found, der=der) == original


def test_another_kind_of_key_signs_nothing(issuer: Issuer) -> None:
    key, ours = rsa.generate_private_key(65537, 2048), issuer.authority.certificate
    now = datetime.now(UTC)
    builder = x509.CertificateRevocationListBuilder(
        issuer_name=ours.subject, last_update=now, next_update=now + LIFETIME
    )
    public = ours.public_key()
    for extension in (x509.CRLNumber(1), authority_key(public)):  # type: ignore[arg-type]
        builder = builder.add_extension(extension, critical=False)
    der = builder.sign(key, SHA256()).public_bytes(Encoding.DER)
    assert read(issuer, der) is None


class Told:
    name = "told"

    def __init__(self, state: Revocations) -> None:
        self.state = state

    async def ask(self, _seen: int | None) -> Revocations:
        return self.state


async def test_it_is_read_once_and_beside_the_loop(
    issuer: Issuer, view: Revoked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 50,000 entries would hold up every request for a fifth of a second."""
    threads: list[int] = []

    def noted(der: bytes, issuers: dict[str, x509.Certificate]) -> tuple[str, SignedList] | None:
        threads.append(threading.get_ident())
        return read_list(der, issuers)

    monkeypatch.setattr("gatepost.trust.revoked.read_list", noted)
    state, reading = issuer.state(), asyncio.Lock()
    pollers = [Poller(Told(state), view, reading=reading) for _ in range(3)]
    assert sorted(await asyncio.gather(*(one.poll() for one in pollers))) == [False, False, True]
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
    assert view.problem is None
