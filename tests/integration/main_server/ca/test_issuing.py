"""Issuing and revoking at the same moment: nobody keeps what was to go, no key counts twice."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from sqlalchemy import select

from gatepost.errors import KeyUsedBefore, NotYet, RevokedCertificate, UnknownCertificate
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Reason
from gatepost.wire.renewal import sign_renewal
from main_server.ca import renewal, revocation
from main_server.ca.authorities import Authorities
from main_server.ca.authority import Authority, Usage, utc_now
from main_server.ca.csr import key_for
from main_server.ca.requests import Asked, grant
from main_server.ca.revoked.repository import Selection
from main_server.store.database import transact
from main_server.store.tables import certificates
from main_server.tenants.clients.service import ensure
from tests.csrs import make_csr
from tests.integration.main_server.ca.ca_room import CaRoom

DUE = timedelta(days=70)


def asked(room: CaRoom, name: str, usage: Usage | None = None) -> renewal.Renewal:
    leaf, *_ = x509.load_pem_x509_certificates((room.out / f"{name}.pem").read_bytes())
    key: Any = load_pem_private_key((room.out / f"{name}.key").read_bytes(), None)
    csr = make_csr()
    return renewal.Renewal(leaf.fingerprint(SHA256()).hex(), csr, sign_renewal(key, csr), usage)


def renew(room: CaRoom, name: str, who: Identity, usage: Usage | None = None) -> None:
    authorities = Authorities(room.ca)
    renewal.renew(room.engine, authorities, asked(room, name, usage), who, utc_now() + DUE)


def revoke(room: CaRoom, selection: Selection) -> None:
    everyone = Authorities(room.ca).all
    revocation.revoke(room.engine, everyone, selection, Reason.KEY_COMPROMISE, utc_now())


def statuses(room: CaRoom, name: str) -> list[str]:
    c = certificates.c
    query = select(c.status).where(c.domain == room.domain, c.name == name)
    return list(transact(room.engine, lambda con: con.execute(query).scalars().all()))


def first(do: Callable[[], object], then: Callable[..., Any]) -> Callable[..., Any]:
    def both(*given: Any) -> Any:
        do()
        return then(*given)

    return both


def test_who_is_revoked_while_it_renews_gets_nothing(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.issue("a")
    where = Selection(domain=room.domain, name="a")
    monkeypatch.setattr(renewal, "ensure", first(lambda: revoke(room, where), ensure))
    with pytest.raises(UnknownCertificate):
        renew(room, "a", Identity(room.domain, Role.CLIENT, "a"))
    assert statuses(room, "a") == ["revoked"]


def test_who_renews_without_end_has_so_many_and_no_more(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewal, "MOST_ACTIVE", 4)
    room.issue("a")
    room.issue("b")
    holder = Identity(room.domain, Role.CLIENT, "a")
    gate, refused = threading.Barrier(5, timeout=30), []
    monkeypatch.setattr(Authority, "sign", first(gate.wait, Authority.sign))

    def ask() -> None:
        try:
            renew(room, "a", holder)
        except NotYet:
            refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (statuses(room, "a").count("active"), len(refused)) == (4, 2)
    monkeypatch.undo()
    monkeypatch.setattr(renewal, "MOST_ACTIVE", 4)
    with pytest.raises(NotYet, match="4 certificates"):
        renew(room, "a", holder)
    renew(room, "b", Identity(room.domain, Role.CLIENT, "b"))
    for step in (("prepare",), ("switch", "--yes")):
        room.done("ca", *step)
    for _ in range(3):  # while an intermediate is replaced, each of them is needed again
        renew(room, "a", holder)


def test_what_is_renewed_must_not_be_revoked_meanwhile_either(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy shows what it calls with, and renews what it is called by."""
    holder = Identity("gatepost", Role.PROXY, f"p-{room.domain[:8]}")
    options = ("--role", "proxy", "--usage", "server", "--host", "localhost", "--json")
    called = room.done("cert", "issue", f"gatepost:{holder.name}", "--out", str(room.folder / "s"),
                       *options).json  # fmt: skip
    room.done("cert", "issue", f"gatepost:{holder.name}", "--out", str(room.out), "--role", "proxy")
    where = Selection(serial=called["serial"])
    monkeypatch.setattr(renewal, "key_for", first(lambda: revoke(room, where), key_for))
    with pytest.raises(UnknownCertificate):
        renew(room, holder.name, holder, Usage.SERVER)


def test_what_is_revoked_before_it_is_signed_is_not_given_away(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = Selection(domain=room.domain, name="a")
    sign = first(lambda: revoke(room, where), Authority.sign)
    monkeypatch.setattr(Authority, "sign", sign)
    with pytest.raises(RevokedCertificate):
        grant(room.engine, Authorities(room.ca).signing,
              Asked(Identity(room.domain, Role.CLIENT, "a")), utc_now())  # fmt: skip
    assert statuses(room, "a") == ["revoked"]


def test_a_key_is_certified_once_at_the_same_moment_too(
    room: CaRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them have recorded their intents when the first one signs."""
    names, csr, gate = ("a", "b", "c"), make_csr(), threading.Barrier(3, timeout=30)
    monkeypatch.setattr(Authority, "sign", first(gate.wait, Authority.sign))
    authority, refused = Authorities(room.ca).signing, []

    def ask(name: str) -> None:
        try:
            holder = Identity(room.domain, Role.CLIENT, name)
            grant(room.engine, authority, Asked(holder, csr=csr), utc_now())
        except KeyUsedBefore:
            refused.append(name)

    threads = [threading.Thread(target=ask, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(refused) == 2
    found = [one for name in names for one in statuses(room, name)]
    assert sorted(found) == ["active", "intended", "intended"]
