"""Partners' own CAs: which may be trusted, what of theirs is known, and that it ends with them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from sqlalchemy import update

from gatepost.clock import from_ms, to_ms
from gatepost.errors import BadOrder, Invalid, KeyUsedBefore
from gatepost.trust.anchors import listed_number
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Reason
from gatepost.wire.bundle import KnownClient
from gatepost.wire.renewal import sign_renewal
from main_server.ca import repository
from main_server.ca.anchors import service
from main_server.ca.anchors.repository import list_anchors
from main_server.ca.authorities import Authorities
from main_server.ca.authority import load_authority, utc_now
from main_server.ca.listing import show_certificate
from main_server.ca.recovery import recover
from main_server.ca.renewal import Renewal, renew
from main_server.ca.requests import succeed
from main_server.ca.revocation import retire_issuer, revoke
from main_server.ca.revoked.repository import Selection
from main_server.messages.edge.repository import list_clients
from main_server.store.database import transact
from main_server.store.tables import certificates, crls, trust_anchors
from tests.csrs import make_csr
from tests.forging import CLIENT_AUTH, SERVER_AUTH, read_signer, subordinate
from tests.integration.main_server.ca.ca_room import CaRoom, Said
from tests.partner import PartnerCa


@pytest.fixture
def partner(room: CaRoom) -> PartnerCa:
    """Trusted for the room's domain."""
    made = PartnerCa()
    add(room, made)
    return made


def add(room: CaRoom, ca: PartnerCa, domain: str | None = None) -> str:
    file = str(room.file("anchor.pem", ca.pem))
    added = room.done("anchor", "add", domain or room.domain, file, "--json").json
    return str(added["anchor"])


def added(room: CaRoom, pem: bytes, domain: str | None = None) -> Said:
    return room.gatepost("anchor", "add", domain or room.domain, str(room.file("a.pem", pem)))


def registered(room: CaRoom, pem: bytes, name: str = "client_001") -> Said:
    file = str(room.file("foreign.pem", pem))
    return room.gatepost("cert", "register", f"{room.domain}:{name}", file, "--json")


def other_domain(room: CaRoom) -> str:
    name = f"o{uuid4().hex[:10]}.example.com"
    now = from_ms(to_ms(utc_now()))
    transact(room.engine, lambda c: repository.add_domain(c, name, None, now))
    return name


def fingerprint(pem: bytes) -> str:
    return x509.load_pem_x509_certificate(pem).fingerprint(SHA256()).hex()


def known(room: CaRoom) -> list[KnownClient]:
    everyone = transact(room.engine, lambda c: list_clients(c, from_ms(to_ms(utc_now()))))
    return [one for one in everyone if one.domain == room.domain]


def listed(room: CaRoom) -> list[list[str]]:
    lists = room.done("crl", "show", "--json").documents
    return [[entry["serial"] for entry in one["entries"]] for one in lists]


def test_what_is_registered_is_known_by_that_name_and_revoked_like_ours(
    room: CaRoom, partner: PartnerCa
) -> None:
    pem, _ = partner.sign(name="whatever it says")
    said = registered(room, pem)
    assert said.code == 0, said.err
    one = said.json
    assert one["identity"] == f"gatepost://{room.domain}/client/client_001"
    [client] = known(room)
    assert (client.name, client.fingerprint) == ("client_001", fingerprint(pem))
    assert client.anchor == one["anchor"]
    assert one["serial"] == listed_number(fingerprint(pem))
    shown = room.done("cert", "show", "--fingerprint", one["fingerprint"], "--json").json
    assert (shown["anchor"], shown["issuer"], shown["status"]) == (one["anchor"], None, "active")
    room.done("cert", "hold", f"{room.domain}:client_001", "--yes")
    assert (known(room), listed(room)) == ([], [[one["serial"]]])
    room.done("cert", "release", "--fingerprint", one["fingerprint"])
    assert (len(known(room)), listed(room)) == (1, [[]])
    room.done("cert", "revoke", "--fingerprint", one["fingerprint"], "--yes")
    assert (known(room), listed(room)) == ([], [[one["serial"]]])
    actions = room.done("audit", "show", "--domain", room.domain, "--json").documents
    assert {"anchor.added", "certificate.registered"} <= {entry["action"] for entry in actions}


def test_with_its_anchor_all_of_it_goes_and_nothing_else(room: CaRoom, partner: PartnerCa) -> None:
    stays = PartnerCa()
    add(room, stays)
    anchor = add(room, partner)  # once more is the same
    gone = [registered(room, partner.sign()[0], f"gone-{n}").json["serial"] for n in range(2)]
    kept = registered(room, stays.sign()[0], "kept").json["serial"]
    ours = room.issue("ours")["serial"]
    dry = room.done("anchor", "remove", anchor, "--dry-run", "--json").json
    assert sorted(dry["serials"]) == sorted(gone)
    assert room.gatepost("anchor", "remove", anchor).code == 2, "it asks first"
    done = room.done("anchor", "remove", anchor, "--yes", "--json").json
    assert sorted(done["serials"]) == sorted(gone)
    assert [sorted(one) for one in listed(room)] == [sorted(gone)]
    assert {one.name for one in known(room)} == {"kept", "ours"}
    assert (kept in gone, ours in gone) == (False, False)
    shown = [room.done("cert", "show", "--serial", one, "--json").json for one in gone]
    assert {one["status"] for one in shown} == {"revoked"}, "for good, and not on hold"
    assert anchor not in {one.id for one in transact(room.engine, list_anchors)}
    assert room.gatepost("anchor", "remove", anchor, "--yes").code == 4
    assert registered(room, partner.sign()[0], "new").code == 3
    add(room, partner)
    assert {one.name for one in known(room)} == {"kept", "ours"}, "what was revoked stays so"
    assert registered(room, partner.sign()[0], "new").code == 0


def test_an_anchor_is_of_one_domain_for_good(room: CaRoom, partner: PartnerCa) -> None:
    elsewhere = other_domain(room)
    said = added(room, partner.pem, elsewhere)
    assert (said.code, "another domain" in said.err) == (3, True)
    room.done("anchor", "remove", add(room, partner), "--yes")
    assert added(room, partner.pem, elsewhere).code == 3
    again = PartnerCa(key=partner.key)  # its certificate is another, and it is the same
    assert added(room, again.pem, elsewhere).code == 3
    assert added(room, again.pem).code == 0


def test_only_a_certificate_and_only_for_a_partner(room: CaRoom) -> None:
    pem = PartnerCa().pem
    assert added(room, pem, "gatepost").code == 4
    assert added(room, pem, "nowhere.example.com").code == 4
    assert added(room, pem, "é").code == 3
    for nonsense in (b"", b"nonsense", pem + PartnerCa().pem, pem + b"-" * 20_000):
        said = added(room, nonsense)
        assert (said.code, "not one certificate" in said.err) == (3, True)


def of_ours(name: str) -> Callable[[CaRoom], bytes]:
    return lambda room: (room.ca / f"{name}.pem").read_bytes()


def _key_id(room: CaRoom) -> bytes:
    ours = read_signer(room.ca, "intermediate").certificate
    return ours.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest


def _subject(room: CaRoom) -> str:
    [name] = read_signer(room.ca, "intermediate").certificate.subject
    return str(name.value)


def made(**given: Any) -> Callable[[CaRoom], bytes]:
    return lambda _: PartnerCa(**given).pem


NO_ANCHORS: dict[str, tuple[Callable[[CaRoom], bytes], str]] = {
    "our root": (of_ours("root"), "It is ours."),
    "our intermediate": (of_ours("intermediate"), "It is ours."),
    "the name of ours": (lambda r: PartnerCa(_subject(r)).pem, "name or the key identifier"),
    "the key identifier of ours": (lambda r: PartnerCa(key_id=_key_id(r)).pem, "identifier"),
    "no key identifier": (made(has_key_id=False), "no key identifier"),
    "a leaf": (lambda _: PartnerCa().sign()[0], "not the certificate of a CA"),
    "no CA": (made(ca=False), "not the certificate of a CA"),
    "it may not sign": (made(signs=False), "key usage"),
    "expired": (made(ends=timedelta(hours=-1)), "not valid now"),
    "not yet valid": (made(begins=timedelta(hours=1)), "not valid now"),
    "a weak key": (lambda _: PartnerCa(key=rsa.generate_private_key(65537, 2048)).pem, "3072"),
    "P-521": (lambda _: PartnerCa(key=ec.generate_private_key(ec.SECP521R1())).pem, "P-384"),
    "SHA-224": (made(digest=hashes.SHA224()), "SHA-256"),
}


@pytest.mark.parametrize("what", NO_ANCHORS)
def test_what_can_not_be_trusted_is_refused_with_the_reason(room: CaRoom, what: str) -> None:
    make, reason = NO_ANCHORS[what]
    said = added(room, make(room))
    assert (said.code, reason in said.err) == (3, True), said.err


@pytest.mark.parametrize(
    "written", [str, str.lower, str.upper, lambda name: f" {name.replace(' ', '  ')} "]
)
def test_two_of_one_name_are_not_trusted_together(
    room: CaRoom, partner: PartnerCa, written: Callable[[str], str]
) -> None:
    """As OpenSSL compares them: it would look for the one's signatures by the other's key."""
    [name] = partner.certificate.subject
    assert added(room, PartnerCa(written(str(name.value))).pem).code == 3


def _rsa() -> Any:
    return rsa.generate_private_key(65537, 2048)


DAY = timedelta(days=1)
NOT_REGISTERED: dict[str, tuple[dict[str, Any], str]] = {
    "for servers": ({"purposes": (SERVER_AUTH,)}, "extended key usage"),
    "for servers too": ({"purposes": (CLIENT_AUTH, SERVER_AUTH)}, "extended key usage"),
    "no purpose": ({"purposes": None}, "no extended key usage"),
    "a CA": ({"ca": True}, "that of a CA"),
    "a weak key": ({"key": _rsa}, "3072"),
    "SHA-224": ({"digest": hashes.SHA224()}, "SHA-256"),
    "expired": ({"ends": -timedelta(seconds=1)}, "not valid now"),
    "not yet valid": ({"begins": DAY, "ends": 2 * DAY}, "not valid now"),
    "a year": ({"ends": 365 * DAY}, "longer than 90 days"),
    "somebody else": ({"uris": ("gatepost://{domain}/client/other",)}, "somebody else"),
    "another domain": ({"uris": ("gatepost://other.example/client/client_001",)}, "somebody else"),
    "another role": ({"uris": ("gatepost://{domain}/admin/client_001",)}, "somebody else"),
    "us": ({"uris": ("gatepost://gatepost/proxy/proxy-1",)}, "somebody else"),
    "two of ours": ({"uris": ("gatepost://{domain}/client/client_001",) * 2}, "2 identities"),
}


@pytest.mark.parametrize("what", NOT_REGISTERED)
def test_what_keeps_not_our_rules_is_not_registered(
    room: CaRoom, partner: PartnerCa, what: str
) -> None:
    given, reason = NOT_REGISTERED[what]
    if "uris" in given:
        given = {"uris": tuple(uri.format(domain=room.domain) for uri in given["uris"])}
    said = registered(room, partner.sign(**given)[0])
    assert (said.code, reason in said.err) == (3, True), said.err
    assert known(room) == []


def test_it_may_name_whom_it_is_for_and_others_of_other_systems(
    room: CaRoom, partner: PartnerCa
) -> None:
    uris = (f"gatepost://{room.domain}/client/client_001", "spiffe://partner/x")
    assert registered(room, partner.sign(uris=uris)[0]).code == 0


def test_only_what_the_domains_own_anchor_signed_itself_is_registered(
    room: CaRoom, partner: PartnerCa
) -> None:
    stranger, foreign = PartnerCa(), PartnerCa()
    add(room, foreign, other_domain(room))
    below = subordinate(partner.signer)
    [name] = partner.certificate.subject
    namesake = PartnerCa(str(name.value))
    for pem in (
        stranger.sign()[0],
        foreign.sign()[0],
        namesake.sign()[0],
        partner.sign(signer=below)[0],
        (room.ca / "intermediate.pem").read_bytes(),
    ):
        said = registered(room, pem)
        assert said.code == 3, said.err
    room.issue("ours")
    assert registered(room, (room.out / "ours.pem").read_bytes()).code == 3
    assert [one.name for one in known(room)] == ["ours"]


def test_neither_a_certificate_nor_a_key_comes_twice(room: CaRoom, partner: PartnerCa) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    first, second = (partner.sign(key=lambda: key)[0] for _ in range(2))
    one = registered(room, first).json
    assert "already: active" in registered(room, first, "other").err
    assert "another certificate already" in registered(room, second, "other").err
    room.done("cert", "revoke", "--serial", one["serial"], "--yes")
    assert "already: revoked" in registered(room, first).err
    assert registered(room, second).code == 3, "its key is known, and may be the reason"


def test_it_is_renewed_by_its_own_ca(room: CaRoom, partner: PartnerCa) -> None:
    """What its CA's removal is to end must not have become one of ours before."""
    pem, key = partner.sign()
    assert registered(room, pem).code == 0
    held: Any = load_pem_private_key(key, None)
    caller, csr = Identity("gatepost", Role.PROXY, "proxy-1"), make_csr()
    asked = Renewal(fingerprint(pem), csr, sign_renewal(held, csr))
    with pytest.raises(BadOrder, match="your own CA"):
        renew(room.engine, Authorities(room.ca), asked, caller, utc_now())
    which = Selection(fingerprint=fingerprint(pem))
    row, ours = show_certificate(room.engine, which, utc_now()), load_authority(room.ca)
    with pytest.raises(BadOrder, match="isn't ours"):
        succeed(room.engine, ours, row, csr, utc_now())


def test_what_is_registered_while_its_anchor_is_removed_is_not_known(
    room: CaRoom, partner: PartnerCa, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be the one certificate of that CA that its removal doesn't end (I8)."""
    anchor, holder = add(room, partner), Identity(room.domain, Role.CLIENT, "client_001")

    def meanwhile(*_: Any) -> None:
        service.remove(room.engine, Authorities(room.ca).all, anchor, utc_now())

    monkeypatch.setattr(service, "ensure", meanwhile)
    with pytest.raises(Invalid, match="was removed"):
        service.register(room.engine, holder, partner.sign()[0], utc_now())


def test_a_key_of_theirs_is_given_no_certificate_of_ours(room: CaRoom, partner: PartnerCa) -> None:
    pem, key = partner.sign(names_issuer=False)
    assert registered(room, pem).code == 0
    room.issue()
    room.done("ca", "prepare")
    room.done("ca", "switch", "--yes")
    held: Any = load_pem_private_key((room.out / "client_001.key").read_bytes(), None)
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    theirs: Any = load_pem_private_key(key, None)
    csr = request.sign(theirs, SHA256()).public_bytes(Encoding.DER)
    own = fingerprint((room.out / "client_001.pem").read_bytes())
    asked = Renewal(own, csr, sign_renewal(held, csr))
    holder = Identity(room.domain, Role.CLIENT, "client_001")
    with pytest.raises(KeyUsedBefore):
        renew(room.engine, Authorities(room.ca), asked, holder, utc_now())


def test_main_servers_know_none_of_them(room: CaRoom, partner: PartnerCa) -> None:
    one = registered(room, partner.sign()[0]).json
    callers = transact(room.engine, lambda c: repository.list_known(c, list(Role), utc_now()))
    assert one["fingerprint"] not in {caller.fingerprint for caller in callers}


@pytest.mark.parametrize("column", [certificates.c.anchor, trust_anchors.c.domain])
def test_no_other_domains_anchor_makes_it_known(
    room: CaRoom, partner: PartnerCa, column: Any
) -> None:
    """As a ledger that was tampered with would have it."""
    one = registered(room, partner.sign()[0]).json
    elsewhere = other_domain(room)
    if column is trust_anchors.c.domain:
        where = trust_anchors.c.anchor == bytes.fromhex(one["anchor"])
        change = update(trust_anchors).where(where).values(domain=elsewhere)
    else:
        foreign = add(room, PartnerCa(), elsewhere)
        where = certificates.c.serial == one["serial"]
        change = update(certificates).where(where).values(anchor=bytes.fromhex(foreign))
    assert len(known(room)) == 1
    transact(room.engine, lambda c: c.execute(change))
    assert known(room) == []


def test_who_retires_our_intermediate_revokes_none_of_theirs(
    room: CaRoom, partner: PartnerCa
) -> None:
    """And its last list, which nobody can take back, holds none of theirs that are on hold."""
    held = registered(room, partner.sign()[0], "held").json["serial"]
    out = registered(room, partner.sign()[0], "out").json["serial"]
    registered(room, partner.sign()[0], "stays")
    room.done("cert", "hold", "--serial", held, "--yes")
    room.done("cert", "revoke", "--serial", out, "--yes")
    room.done("ca", "prepare")
    room.done("ca", "switch", "--yes")
    authorities = Authorities(room.ca)
    old = next(one for one, state in authorities.states if state == "retiring")
    assert [sorted(one) for one in listed(room)] == [sorted([held, out])] * 2
    retire_issuer(room.engine, authorities.all, old, utc_now())
    assert sorted(listed(room), key=len) == [[], sorted([held, out])]
    assert [one.name for one in known(room)] == ["stays"]


def test_a_restored_ledger_un_revokes_none_of_theirs(room: CaRoom, partner: PartnerCa) -> None:
    one = registered(room, partner.sign()[0]).json
    authorities = Authorities(room.ca)
    chosen = Selection(serial=one["serial"])
    room.done("cert", "revoke", "--serial", one["serial"], "--yes")
    back = {"status": "active", "revoked_at": None, "revocation_reason": None}
    c = certificates.c
    restore = update(certificates).where(c.serial == one["serial"]).values(back)
    transact(room.engine, lambda connection: connection.execute(restore))
    transact(room.engine, lambda c: c.execute(crls.delete()))
    taken = recover(room.engine, authorities.all, room.crl_file, utc_now())
    assert (taken, known(room)) == ([one["serial"]], [])
    assert revoke(room.engine, authorities.all, chosen, Reason.SUPERSEDED, utc_now()).serials == []
