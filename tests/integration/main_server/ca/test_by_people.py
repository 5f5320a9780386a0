"""The admin API for people, by way of the portal: an administrator of a domain has to do with its
clients alone, whatever they name (I12); a super-administrator with everything, and the audit log
has it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from ssl import DER_cert_to_PEM_cert
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock
from uuid import uuid4

import httpx
import pytest
from cryptography import x509
from fastapi import Depends
from sqlalchemy import bindparam, text

from gatepost.clock import from_ms, to_ms
from gatepost.service.api import create_api
from gatepost.trust.identity import Identity, Role
from main_server.api.admin import certificates, clients, endings, tokens, withdrawing
from main_server.api.admin.endings import list_endings
from main_server.audit.repository import read_head
from main_server.ca import repository
from main_server.ca.anchors.service import add, register
from main_server.ca.authority import Order, Usage, load_authority, utc_now
from main_server.ca.online import OnlineCa
from main_server.ca.service import Cause, Issued, issue
from main_server.people.administrator import administrator_for
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact
from main_server.tenants.clients.service import Change, change, ensure
from tests.csrs import make_csr
from tests.forging import odd_certificates
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.integration.main_server.ca.served import served
from tests.partner import PartnerCa

SERIAL, FINGERPRINT, TOKEN = "0" * 32, "0" * 64, "0" * 64
NOT_COMPARED = {"date", "x-request-id", "server-timing"}
As = Callable[[Viewer], httpx.Client]


@pytest.fixture
def calling(room: CaRoom, online: OnlineCa, monkeypatch: pytest.MonkeyPatch) -> Iterator[As]:
    """The portal, for somebody; what proves who it is, is tested where sessions are."""
    monkeypatch.setattr(online, "publish", AsyncMock(return_value=True))
    context: Any = SimpleNamespace(ledger=online.ledger, ca=online, clock=online._clock)
    with ExitStack() as stack:

        def call(viewer: Viewer) -> httpx.Client:
            api, asks = create_api("test"), Depends(lambda: administrator_for(viewer))
            for module in (certificates, withdrawing, tokens, clients, endings):
                api.include_router(module.create_router(context, "", asks))
            url = stack.enter_context(served(api))
            return stack.enter_context(httpx.Client(base_url=url, timeout=20))

        yield call


def admin_of(domain: str) -> Viewer:
    return Viewer("02", "bob", UserRole.ADMIN, domain, proof_wanted=None)


EVE = Viewer("03", "eve", UserRole.SUPER_ADMIN, "gatepost", proof_wanted=None)


@pytest.fixture
def admin(room: CaRoom, calling: As) -> httpx.Client:
    return calling(admin_of(room.domain))


@pytest.fixture
def other(room: CaRoom) -> str:
    """Another domain."""
    domain, now = f"o{uuid4().hex[:10]}.example.com", from_ms(to_ms(utc_now()))
    transact(room.engine, lambda c: repository.add_domain(c, domain, None, now))
    return domain


def give(
    room: CaRoom,
    name: str = "abc",
    domain: str | None = None,
    role: Role = Role.CLIENT,
    days: float = 80,
    usage: Usage = Usage.CLIENT,
) -> Issued:
    holder = Identity(domain or room.domain, role, name)
    if role is Role.CLIENT:
        ensure(room.engine, holder, utc_now())
    hosts = ("localhost",) if usage is Usage.SERVER else ()
    order = Order(holder, usage, timedelta(days=days), hosts)
    return issue(room.engine, load_authority(room.ca), order, utc_now(), Cause("tester"))


def made(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


def audited(room: CaRoom, action: str, domain: str | None = None) -> list[tuple[str, str]]:
    query = text(
        "SELECT actor, details FROM audit_log WHERE action = :a AND domain = :d ORDER BY seq"
    )
    given = {"a": action, "d": domain or room.domain}
    rows = transact(room.engine, lambda c: c.execute(query, given).all())
    return [(row[0], row[1]) for row in rows]


def test_a_certificate_tells_where_it_comes_from(room: CaRoom, admin: httpx.Client) -> None:
    first = made(admin.post("/certs", json={"client_id": "abc"}), 201)
    path = f"/certificates/{first['serial']}"
    second = made(admin.post(f"{path}/renew", json={}), 201)
    assert second["identity"] == first["identity"]
    assert second["key"] != first["key"]
    old, new = made(admin.get(path)), made(admin.get(f"/certificates/{second['serial']}"))
    actor = f"gatepost://{room.domain}/user/bob"
    assert (old["origin"], old["actor"], old["usage"]) == ("issued", actor, "client")
    assert (old["predecessor"], old["successors"]) == (None, [second["serial"]])
    assert (new["origin"], new["predecessor"]) == ("renewed", first["serial"])
    assert (new["last_used_at"], new["hosts"]) == (None, [])
    leaf = x509.load_pem_x509_certificate(new["pem"].encode())
    assert f"{leaf.serial_number:032x}" == second["serial"]
    ((who, details),) = audited(room, "certificate.renewed")
    assert (who, json.loads(details)["predecessor"]) == (actor, first["serial"])


def test_one_of_a_partners_own_ca_is_shown_whatever_it_says_or_does_not_say(
    room: CaRoom, admin: httpx.Client
) -> None:
    """It needs no subject alternative name; and one that can't be read any more is still there."""
    ca, now = PartnerCa(), utc_now()
    add(room.engine, room.ca, room.domain, ca.pem, now)
    pem, _ = ca.sign()
    one = register(room.engine, Identity(room.domain, Role.CLIENT, "abc"), pem, now)
    path = f"/certificates/{one.serial}"
    found = made(admin.get(path))
    assert (found["hosts"], found["pem"]) == ([], pem.decode())
    odd = odd_certificates(ca.signer)["KeyError"]
    spoil = text("UPDATE certificates SET der = :der WHERE serial = :serial")
    transact(room.engine, lambda c: c.execute(spoil, {"serial": one.serial, "der": odd}))
    found = made(admin.get(path))
    assert (found["hosts"], found["pem"]) == ([], DER_cert_to_PEM_cert(odd))


def test_what_was_taken_is_not_given_back_by_a_renewal(room: CaRoom, admin: httpx.Client) -> None:
    serial = give(room).serial
    for change_, verb in (("hold", "held"), ("revoke", "revoked")):
        made(admin.post(f"/certificates/{change_}", json={"serial": serial}))
        answer = admin.post(f"/certificates/{serial}/renew", json={})
        assert answer.status_code == 422, verb
        assert "issue a new one" in answer.json()["detail"]
    assert len(made(admin.get("/certificates"))["certificates"]) == 1


def test_a_renewal_for_their_own_key(room: CaRoom, admin: httpx.Client) -> None:
    serial = give(room).serial
    path = f"/certificates/{serial}/renew"
    said = made(admin.post(path, json={"csr": make_csr().decode()}), 201)
    assert (said["key"], said["pkcs12"]) == (None, None)
    for wrong in (
        {"csr": "CANARY"},
        {"csr": make_csr(name="another").decode()},
        {"csr": make_csr().decode(), "pkcs12_password": "correct horse"},
        {"pkcs12_password": "short"},
        {"days": 3},
    ):
        answer = admin.post(path, json=wrong)
        assert (answer.status_code, "CANARY" in answer.text) == (422, False)
    packed = made(admin.post(path, json={"pkcs12_password": "correct horse"}), 201)
    assert (packed["key"], bool(packed["pkcs12"])) == (None, True)


def test_a_dry_run_says_what_would_be_taken(room: CaRoom, admin: httpx.Client) -> None:
    serials = {give(room).serial for _ in range(2)}
    made(admin.post("/tokens", json={"client_id": "abc"}), 201)
    order = {"client_id": "abc", "dry_run": True}
    for _ in range(2):
        dry = made(admin.post("/certificates/revoke", json=order))
        assert (set(dry["serials"]), dry["tokens_withdrawn"]) == (serials, 1)
        assert (dry["dry_run"], dry["redis_told"]) == (True, None)
    done = made(admin.post("/certificates/revoke", json=order | {"dry_run": False}))
    assert (set(done["serials"]), done["tokens_withdrawn"]) == (serials, 1)
    assert done["redis_told"] is True
    nothing = made(admin.post("/certificates/revoke", json=order))
    assert (nothing["serials"], nothing["tokens_withdrawn"]) == ([], 0)
    ((who, _),) = audited(room, "certificate.revoked")
    assert who == f"gatepost://{room.domain}/user/bob"


def test_pages_go_by_expiry_and_lose_and_repeat_none(room: CaRoom, admin: httpx.Client) -> None:
    wanted = [give(room, days=days).serial for days in (9, 5, 7, 5, 5)]
    order = {"sorting": "expiry", "limit": "2"}
    found, after = [], ""
    while True:
        page = made(admin.get("/certificates", params=order | {"after": after}))
        found += [(one["not_after"], one["serial"]) for one in page["certificates"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert found == sorted(found)
    assert sorted(serial for _, serial in found) == sorted(wanted)


def test_another_domains_certificate_is_the_end_of_no_page(
    room: CaRoom, admin: httpx.Client, other: str
) -> None:
    give(room)
    foreign = give(room, domain=other, days=1).serial
    query = {"sorting": "expiry"}
    nothing = admin.get("/certificates", params=query | {"after": SERIAL})
    assert admin.get("/certificates", params=query | {"after": foreign}).json() == nothing.json()
    assert nothing.json()["certificates"] == []


WITH_ID: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/certificates/SERIAL", {}),
    ("POST", "/certificates/SERIAL/renew", {}),
    *(
        ("POST", f"/certificates/{change}", {which: value} | more)
        for change in ("revoke", "hold", "release")
        for which, value in (("serial", "SERIAL"), ("fingerprint", "FINGERPRINT"))
        for more in ({}, {"role": "client"}, {"role": "proxy"}, {"dry_run": True})
    ),
    ("POST", "/certificates/revoke", {"client_id": "CLIENT"}),
    ("POST", "/certificates/hold", {"client_id": "CLIENT", "dry_run": True}),
    ("GET", "/clients/CLIENT", {}),
    ("PATCH", "/clients/CLIENT", {"disabled": True}),
    ("DELETE", "/tokens/TOKEN", {}),
]


def test_a_foreign_id_is_answered_as_one_that_is_not_there(
    room: CaRoom, admin: httpx.Client, calling: As, other: str
) -> None:
    """Another domain's client, and what we run, even for the asker's own domain (I12)."""
    foreign = give(room, domain=other)
    confined = give(room, name="p1", role=Role.PROXY)
    ours = give(room, name=f"w-{uuid4().hex[:6]}", domain="gatepost", role=Role.WORKER)
    theirs = calling(admin_of(other))
    theirs.post("/tokens", json={"client_id": "abc"})
    (token,) = made(theirs.get("/tokens"))["tokens"]

    def ask(route: tuple[str, str, Any], *ids: str) -> tuple[int, Any, Any]:
        method, path, said = route[0], route[1], json.dumps(route[2])
        for name, value in zip(("SERIAL", "FINGERPRINT", "CLIENT", "TOKEN"), ids, strict=True):
            said, path = said.replace(name, value), path.replace(name, value)
        answer = admin.request(method, path, json=json.loads(said))
        headers = {k: v for k, v in answer.headers.items() if k not in NOT_COMPARED}
        return answer.status_code, answer.json() | {"request_id": ""}, headers

    for route in WITH_ID:
        nothing = ask(route, SERIAL, FINGERPRINT, "nowhere.example:abc", TOKEN)
        assert nothing[0] == 404, (route, nothing[1])
        for one, client in (
            (foreign, f"{other}:abc"), (ours, "gatepost:w"), (confined, "nowhere.example:p1"),
        ):  # fmt: skip
            found = ask(route, one.serial, one.fingerprint, client, token["token"])
            assert found == nothing, (route, client)
    serials = (foreign.serial, confined.serial, ours.serial)
    query = text("SELECT DISTINCT status FROM certificates WHERE serial IN :s")
    query = query.bindparams(bindparam("s", serials, expanding=True))
    states = list(transact(room.engine, lambda c: c.execute(query).scalars()))
    assert states == ["active"], "none of it has changed anything"
    assert made(theirs.get("/tokens"))["tokens"] == [token]


def test_lists_know_nothing_of_another_domain(
    room: CaRoom, admin: httpx.Client, other: str
) -> None:
    give(room)
    give(room, domain=other)
    give(room, name="p1", role=Role.PROXY)
    for path, key in (("/certificates", "certificates"), ("/clients", "clients")):
        assert {one["name"] for one in made(admin.get(path))[key]} == {"abc"}
        for query in ({"domain": other}, {"domain": "nowhere.example"}):
            assert made(admin.get(path, params=query))[key] == []
    assert made(admin.get("/certificates", params={"role": "proxy"}))["certificates"] == []
    assert made(admin.get("/tokens", params={"domain": other}))["tokens"] == []
    assert not audited(room, "certificates.listed")


def test_what_we_run_is_for_those_who_look_after_it(
    room: CaRoom, admin: httpx.Client, calling: As, other: str
) -> None:
    order = {"client_id": "p1", "role": "portal"}
    assert admin.post("/certs", json=order).status_code == 422
    eve = calling(EVE)
    in_domain = order | {"client_id": f"{room.domain}:p1"}
    assert eve.post("/certs", json=in_domain | {"role": "proxy"}).status_code == 422
    serial = made(eve.post("/certs", json=in_domain), 201)["serial"]
    assert made(eve.get(f"/certificates/{serial}"))["role"] == "portal"
    query = {"domain": room.domain}
    assert [
        one["serial"] for one in made(eve.get("/certificates", params=query))["certificates"]
    ] == [serial]
    made(eve.get("/clients", params=query))
    made(eve.get("/tokens", params=query))
    made(eve.post("/certificates/revoke", json={"serial": serial, "reason": "superseded"}))
    for action in ("certificate.seen", "certificates.listed", "clients.listed", "tokens.listed"):
        ((who, _),) = audited(room, action)
        assert who == "gatepost://gatepost/user/eve"


def test_clients_are_shown_and_limited(room: CaRoom, admin: httpx.Client) -> None:
    client_id = f"{room.domain}:abc"
    assert admin.get(f"/clients/{client_id}").status_code == 404
    made(admin.post("/clients", json={"client_id": "abc", "rate_per_second": 7}), 201)
    limited = made(admin.patch(f"/clients/{client_id}", json={"burst": 3}))
    assert made(admin.get(f"/clients/{client_id}")) == limited
    assert (limited["rate_per_second"], limited["burst"]) == (7, 3)
    page = made(admin.get("/clients", params={"limit": "1"}))
    assert page["next"] == client_id
    assert made(admin.get("/clients", params={"after": client_id}))["clients"] == []


def test_who_names_another_role_means_no_client(room: CaRoom, admin: httpx.Client) -> None:
    """One of that name has a certificate: what was not meant must not be revoked."""
    serial = give(room).serial
    for path in ("revoke", "hold", "release"):
        said = admin.post(f"/certificates/{path}", json={"client_id": "abc", "role": "proxy"})
        assert said.status_code == 404
    assert made(admin.get(f"/certificates/{serial}"))["status"] == "active"


ODD = [
    *(f"/certificates?{one}" for one in ("domain=%C3%A9", "name=%C3%A9", "after=%2B491701234567")),
    *(f"/clients?{one}" for one in ("domain=%C3%A9", "after=%2B491701234567", "after=%C3%A9")),
    *(f"/tokens?{one}" for one in ("domain=%C3%A9", "name=%C3%A9")),
    *(f"/{area}?domain={'d' * 300}" for area in ("certificates", "clients", "tokens")),
]


@pytest.mark.parametrize("path", ODD)
def test_what_nobody_is_called_gets_into_no_entry(room: CaRoom, calling: As, path: str) -> None:
    """Looks are noted for good, so a number that was typed in the wrong place must not be (I6)."""
    before = transact(room.engine, read_head)
    assert calling(EVE).get(path).status_code == 422
    assert transact(room.engine, read_head) == before


class TestEndings:
    """Who has nothing that lasts longer, for the banner."""

    def named(self, admin: httpx.Client) -> list[tuple[str, int]]:
        found = made(admin.get("/endings"))["certificates"]
        return [(one["identity"].rpartition("/")[2], one["days"]) for one in found]

    def test_the_next_comes_first_by_its_step(self, room: CaRoom, admin: httpx.Client) -> None:
        for name, days in (("d", 20), ("c", 6), ("b", 0.5), ("e", 40)):
            give(room, name, days=days)
        assert self.named(admin) == [("b", 1), ("c", 7), ("d", 30)]

    def test_who_has_another_that_lasts_longer_is_no_news(
        self, room: CaRoom, admin: httpx.Client
    ) -> None:
        give(room, days=5)
        newer = give(room, days=60).serial
        assert self.named(admin) == []
        made(admin.post("/certificates/revoke", json={"serial": newer}))
        assert self.named(admin) == [("abc", 7)]
        give(room, days=20)
        assert self.named(admin) == [("abc", 30)]

    def test_of_those_from_before_uses_were_noted_any_other_will_do(
        self, room: CaRoom, admin: httpx.Client
    ) -> None:
        before = text("UPDATE certificates SET used_for = NULL WHERE serial = :serial")
        given = {"serial": give(room, days=5).serial}
        transact(room.engine, lambda c: c.execute(before, given))
        assert self.named(admin) == [("abc", 7)]
        give(room, days=60)
        assert self.named(admin) == []

    def test_who_is_disabled_needs_none(self, room: CaRoom, admin: httpx.Client) -> None:
        give(room, days=5)
        client_id = f"{room.domain}:abc"
        change(room.engine, client_id, Change(disabled=True), utc_now())
        assert self.named(admin) == []

    def test_what_is_over_is_named_for_a_while(self, room: CaRoom) -> None:
        give(room, days=5)
        for after, named in ((6, [0]), (11, [0]), (13, [])):
            found = list_endings(room.engine, room.domain, utc_now() + timedelta(days=after))
            assert [one.days for one in found.certificates] == named, after

    def test_what_we_run_counts_for_each_use(
        self, room: CaRoom, admin: httpx.Client, calling: As
    ) -> None:
        name = f"p-{uuid4().hex[:6]}"
        give(room, name, role=Role.PROXY, days=0.01)
        give(room, name, role=Role.PROXY, days=80, usage=Usage.SERVER)
        give(room, "abc", days=0.01)
        found = made(calling(EVE).get("/endings"))["certificates"]
        assert [one["usage"] for one in found if one["identity"].endswith(name)] == ["client"]
        assert not [one for one in found if "/client/" in one["identity"]]
        assert self.named(admin) == [("abc", 1)]
        assert not audited(room, "certificates.listed", "gatepost")


def test_tokens_come_in_pages_the_latest_first(room: CaRoom, admin: httpx.Client) -> None:
    for number in range(5):
        made(admin.post("/tokens", json={"client_id": f"t{number}"}), 201)
    found, after = [], ""
    while after is not None:
        page = made(admin.get("/tokens", params={"limit": 2, "after": after}))
        assert len(page["tokens"]) <= 2
        found += page["tokens"]
        after = page["next"]
    assert len({one["token"] for one in found}) == len(found) == 5
    times = [one["created_at"] for one in found]
    assert times == sorted(times, reverse=True)
    for wrong in ("x", "1", "-", "1-x", "9" * 40 + "-ab"):
        assert admin.get("/tokens", params={"after": wrong}).status_code == 422
