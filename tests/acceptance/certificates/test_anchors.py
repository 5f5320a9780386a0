"""Partners' own CAs in a running stack: who is let in by them, who isn't, why, and until when."""

import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles, client_context
from main_server.ca import repository
from main_server.ca.authority import utc_now
from main_server.store.database import transact
from tests.acceptance.certificates.bad import KEY, UNKNOWN, UNPINNED, UNSUITABLE, URI
from tests.acceptance.certificates.conftest import Make
from tests.acceptance.certificates.revoking import revoke_now
from tests.acceptance.certificates.test_bad_certificates import (
    REVOKED,
    assert_refused,
    outcome,
    showing,
)
from tests.acceptance.site import Site, Wire, accepted, eventually, post
from tests.factories import DOMAIN
from tests.forging import CLIENT_AUTH, SERVER_AUTH, subordinate
from tests.partner import PartnerCa

NO_ISSUER = "unable to get local issuer certificate"
FOREIGN_ROLE = "a CA that isn't ours names another role than client"
FOREIGN_DOMAIN = "a CA that isn't ours names a client of another domain than its own"
WHOAMI = b"GET /api/v1/whoami HTTP/1.1\r\nHost: h\r\n\r\n"
OTHER = "partners.example"
OURS = f"gatepost://{DOMAIN}/client/client_001"


@dataclass
class Trusted:
    """CAs that the stack trusts, and one that it trusted once."""

    site: Site
    admin: httpx.Client
    folder: Path
    own: PartnerCa = field(default_factory=PartnerCa)
    other: PartnerCa = field(default_factory=PartnerCa)
    confined: PartnerCa = field(
        default_factory=lambda: PartnerCa(
            more=[x509.NameConstraints([x509.DNSName("partner.example")], None)]
        )
    )
    removed: PartnerCa = field(default_factory=PartnerCa)

    def ask(self, path: str, **said: Any) -> dict[str, Any]:
        answer = self.admin.post(f"/admin/{path}", json=said)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def add(self, ca: PartnerCa, domain: str = DOMAIN) -> str:
        said = self.ask("anchors", domain=domain, certificate=ca.pem.decode())
        return str(said["anchor"])

    def remove(self, anchor: str) -> dict[str, Any]:
        answer = self.admin.delete(f"/admin/anchors/{anchor}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def known(self, ca: PartnerCa, domain: str = DOMAIN, **given: Any) -> TlsFiles:
        """Registered, and taken by all processes."""
        files = self.registered(ca, f"{domain}:p-{uuid4().hex[:8]}", **given)
        eventually(lambda: all(is_served(self.site, files) for _ in range(8)), "it is known")
        return files

    def registered(self, ca: PartnerCa, client_id: str, **given: Any) -> TlsFiles:
        folder = self.folder / uuid4().hex
        folder.mkdir()
        files = ca.issue(folder, self.site.files("client_001").ca_file, **given)
        self.ask(
            "certificates/register",
            client_id=client_id,
            certificate=files.cert_file.read_text(),
        )
        return files


def is_served(site: Site, files: TlsFiles) -> bool:
    return outcome(site, "proxy", client_context(files))[0] == 200


def add_domain(site: Site, domain: str) -> None:
    now = from_ms(to_ms(utc_now()))
    transact(site.engine, lambda c: repository.add_domain(c, domain, None, now))


@pytest.fixture(scope="package")
def trusted(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusted]:
    with site.calling("admin", "main_server") as admin:
        made = Trusted(site, admin, tmp_path_factory.mktemp("partners"))
        add_domain(site, OTHER)
        anchors = [made.add(made.own), made.add(made.other, OTHER), made.add(made.confined)]
        once = made.add(made.removed)
        for ca, domain in ((made.own, DOMAIN), (made.other, OTHER), (made.removed, DOMAIN)):
            made.known(ca, domain)
        made.remove(once)
        yield made
        for anchor in anchors:
            made.remove(anchor)


@dataclass(frozen=True)
class Bad:
    what: str
    reason: str
    make: Callable[[Trusted], tuple[bytes, bytes]]


def own(**given: Any) -> Callable[[Trusted], tuple[bytes, bytes]]:
    return lambda trusted: trusted.own.sign(**given)


def _below(trusted: Trusted) -> tuple[bytes, bytes]:
    signer = subordinate(trusted.own.signer)
    pem, key = trusted.own.sign(signer=signer, uris=(OURS,))
    return pem + signer.chain, key


def _registered_elsewhere(trusted: Trusted) -> tuple[bytes, bytes]:
    """Good as another domain's; here it says that it is ours."""
    return trusted.other.sign(uris=(OURS,))


BAD = [
    Bad("a CA that nobody trusts", NO_ISSUER, lambda _: PartnerCa().sign(uris=(OURS,))),
    Bad("an anchor that was removed", NO_ISSUER, lambda t: t.removed.sign(uris=(OURS,))),
    Bad("an anchor's, but not registered", UNKNOWN, own()),
    Bad("an anchor's that takes our client's name", UNKNOWN, own(uris=(OURS,))),
    Bad("another domain's anchor", FOREIGN_DOMAIN, _registered_elsewhere),
    Bad("our proxy's name", FOREIGN_ROLE, own(uris=("gatepost://gatepost/proxy/proxy-1",))),
    Bad("our administrator's name", FOREIGN_ROLE, own(uris=("gatepost://gatepost/admin/admin",))),
    Bad(
        "an administrator of its domain", FOREIGN_ROLE, own(uris=(f"gatepost://{DOMAIN}/admin/a",))
    ),
    Bad("a client of ours", FOREIGN_DOMAIN, own(uris=("gatepost://gatepost/client/client_001",))),
    Bad("two of our names", "the certificate names 2 identities of ours", own(uris=(OURS, OURS))),
    Bad("our name in capitals", URI, own(uris=(OURS.upper(),))),
    Bad("a CA below an anchor", UNPINNED, _below),
    Bad(
        "a name outside of its CA's constraints",
        "permitted subtree violation",
        lambda t: t.confined.sign(names=(x509.DNSName("elsewhere.example"),)),
    ),
    Bad("for servers only", UNSUITABLE, own(purposes=(SERVER_AUTH,))),
    Bad(
        "for servers too",
        "the certificate's extended key usage is not the one that is wanted",
        own(purposes=(CLIENT_AUTH, SERVER_AUTH)),
    ),
    Bad("no purpose", "the certificate has no extended key usage", own(purposes=None)),
    Bad("a weak key", KEY, own(key=lambda: rsa.generate_private_key(65537, 2048))),
    Bad(
        "SHA-224",
        "the certificate's signature is not by SHA-256 or better",
        own(digest=hashes.SHA224()),
    ),
    Bad("expired", "certificate has expired", own(ends=timedelta(seconds=-1))),
    Bad("says that it is a CA", "the certificate is that of a CA", own(ca=True)),
]


@pytest.mark.parametrize("bad", BAD, ids=[bad.what for bad in BAD])
def test_it_is_refused_for_its_own_reason(
    site: Site, trusted: Trusted, tmp_path: Path, bad: Bad
) -> None:
    chain, key = bad.make(trusted)
    (tmp_path / "bad.pem").write_bytes(chain)
    (tmp_path / "bad.key").write_bytes(key)
    context = showing(site, tmp_path / "bad.pem", tmp_path / "bad.key")
    if bad.reason == NO_ISSUER:
        eventually(lambda: all(outcome(site, "proxy", context)[0] == 0 for _ in range(6)), "gone")
    assert_refused(site, "proxy", context, bad.reason)
    assert_refused(site, "main_server", context, NO_ISSUER)


@pytest.mark.parametrize("domain", [DOMAIN, OTHER])
def test_a_registered_one_sends_as_whom_it_was_registered(
    site: Site, trusted: Trusted, domain: str
) -> None:
    """And so does the next one of that client, by its CA: the same messages are its own (I10)."""
    ca, who = (trusted.own if domain == DOMAIN else trusted.other), f"{domain}:p-{uuid4().hex[:8]}"
    first, second = (trusted.registered(ca, who, name="whatever") for _ in range(2))
    for files in (first, second):
        eventually(lambda f=files: all(is_served(site, f) for _ in range(8)), "it is known")  # type: ignore[misc]
    with site.calling(first) as client, site.calling(second) as later:
        whole = client.get("/api/v1/whoami").json()
        assert f"{whole['domain']}:{whole['name']}" == who
        message_id = accepted(post(client))
        assert later.get(f"/api/v1/messages/{message_id}").status_code == 200
    site.wait_delivered(message_id)
    assert_refused(site, "main_server", client_context(first), NO_ISSUER)


def test_our_own_are_served_beside_them(site: Site, trusted: Trusted) -> None:
    assert trusted.own.certificate
    for service, name in (("proxy", "client_001"), ("main_server", "worker")):
        assert outcome(site, service, client_context(site.files(name)))[0] == 200
        assert site.events(service, "request.failed") == []


def test_a_second_after_its_anchor_is_removed_it_is_out_and_nobody_else(
    site: Site, trusted: Trusted
) -> None:
    leaving = PartnerCa()
    anchor = trusted.add(leaving)
    out, stays = trusted.known(leaving), trusted.known(trusted.own)
    wires = [Wire(site.url("proxy"), client_context(out)) for _ in range(8)]
    others = [Wire(site.url("proxy"), client_context(stays)) for _ in range(8)]
    for wire in wires + others:
        wire.send(WHOAMI)
        assert wire.answer()[0] == 200
    done = trusted.remove(anchor)
    assert (len(done["serials"]), done["redis_told"]) == (1, True)
    for wire in wires:
        wire.socket.settimeout(5)
        assert wire.answer()[0] == 0, "it was not cut"
    assert not any(is_served(site, out) for _ in range(8))
    for wire in others:
        wire.send(WHOAMI)
        assert wire.answer()[0] == 200, "another's was cut"
    for wire in wires + others:
        wire.socket.close()
    context = client_context(out)
    eventually(lambda: all(outcome(site, "proxy", context)[0] == 0 for _ in range(6)), "forgotten")
    assert_refused(site, "proxy", context, NO_ISSUER)


def test_the_same_serial_of_another_issuer_is_another_certificate(
    site: Site, trusted: Trusted, known: Make
) -> None:
    ours = known(Role.CLIENT)
    theirs = trusted.known(trusted.own, serial=lambda: ours.x509.serial_number)
    with Wire(site.url("proxy"), client_context(theirs)) as wire:
        wire.send(WHOAMI)
        assert wire.answer()[0] == 200
        revoke_now(site, ours)
        context = client_context(ours.files)
        eventually(lambda: all(outcome(site, "proxy", context)[0] == 403 for _ in range(8)), "out")
        wire.send(WHOAMI)
        assert wire.answer()[0] == 200, "it was cut"
    fingerprint = x509.load_pem_x509_certificate(theirs.cert_file.read_bytes()).fingerprint(
        hashes.SHA256()
    )
    target = {"fingerprint": fingerprint.hex(), "reason": "keyCompromise"}
    assert trusted.admin.post("/admin/certificates/revoke", json=target).status_code == 200
    context = client_context(theirs)
    eventually(lambda: all(outcome(site, "proxy", context)[0] == 403 for _ in range(8)), "out", 2)
    assert_refused(site, "proxy", context, REVOKED)


def test_whom_we_trust_is_not_for_an_administrator_of_a_domain(
    site: Site, trusted: Trusted
) -> None:
    """What its domain's anchor has signed it registers, as it issues: for its own clients."""
    pair = site.issue(Identity(DOMAIN, Role.ADMIN, f"admin-{uuid4().hex[:8]}"))
    pem = trusted.own.sign()[0].decode()
    anchor = trusted.add(PartnerCa())
    with site.calling(pair.files, "main_server") as admin:
        eventually(lambda: admin.get("/admin/tokens").status_code == 200, "it is known")
        said = {"domain": DOMAIN, "certificate": PartnerCa().pem.decode()}
        refusals = [
            admin.post("/admin/anchors", json=said),
            admin.get("/admin/anchors"),
            admin.delete(f"/admin/anchors/{anchor}"),
            admin.delete(f"/admin/anchors/{'00' * 32}"),
        ]
        assert {one.status_code for one in refusals} == {403}
        assert len({one.json()["detail"] for one in refusals}) == 1
        for domain, status in ((OTHER, 404), (DOMAIN, 201)):
            who = f"{domain}:p-{uuid4().hex[:8]}"
            answer = admin.post(
                "/admin/certificates/register", json={"client_id": who, "certificate": pem}
            )
            assert answer.status_code == status, answer.text
    found = trusted.admin.get("/admin/anchors").json()["anchors"]
    assert anchor in {one["anchor"] for one in found}
    trusted.remove(anchor)


def test_an_anchor_does_not_make_a_server_of_ours(site: Site, trusted: Trusted) -> None:
    """Callers trust our CA alone: nobody who is an anchor's can be called in our place."""
    pem, key = trusted.own.sign(
        purposes=(SERVER_AUTH,),
        uris=("gatepost://gatepost/main/main-1",),
        names=(x509.DNSName("localhost"),),
    )
    folder = trusted.folder / uuid4().hex
    folder.mkdir()
    files = TlsFiles(folder / "s.pem", folder / "s.key", site.files("client_001").ca_file)
    files.cert_file.write_bytes(pem)
    files.key_file.write_bytes(key)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(files.cert_file, files.key_file)
    for role in (None, Role.MAIN):
        caller = client_context(site.files("client_001"), role)
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(server, caller)


def shake_hands(server: ssl.SSLContext, caller: ssl.SSLContext) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        caller.wrap_bio(back, there, server_hostname="localhost"),
        server.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
