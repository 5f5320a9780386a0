"""The admin API on a CA of its own, whatever it is sent."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import httpx
import pytest
from fastapi import Depends
from redis.exceptions import RedisError
from sqlalchemy.exc import OperationalError

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.queue import connect
from gatepost.service.api import create_api
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Reason
from main_server.api.admin import certificates, clients, tokens, withdrawing
from main_server.ca.authorities import Authorities
from main_server.ca.authority import utc_now
from main_server.ca.online import OnlineCa
from main_server.ca.revoked.repository import Forgotten, record_forgotten
from main_server.people.administrator import administrator_by
from main_server.settings import Authority as Settings
from main_server.store.database import Ledger, transact
from tests.csrs import make_csr
from tests.integration.main_server.ca.ca_room import CaRoom
from tests.integration.main_server.ca.served import served

EVERYWHERE = Identity("gatepost", Role.ADMIN, "root")
Calls = Callable[[Identity], httpx.Client]


@pytest.fixture
def calling(room: CaRoom) -> Iterator[Calls]:
    """A client for an administrator; what proves who it is, is tested where TLS is."""
    ledger = Ledger(room.engine, 4)
    settings = Settings(folder=room.ca, crl_file=room.crl_file)
    redis = connect(room.redis)
    ca = OnlineCa(Log("test", "error"), settings, ledger, Clock(), redis)
    context: Any = SimpleNamespace(ledger=ledger, ca=ca)
    with ExitStack() as stack:

        def call(caller: Identity) -> httpx.Client:
            api, asks = create_api("test"), Depends(lambda: administrator_by(caller))
            for module in (certificates, withdrawing, tokens, clients):
                api.include_router(module.create_router(context, "/admin", asks))
            url = stack.enter_context(served(api, redis))
            return stack.enter_context(httpx.Client(base_url=url, timeout=20))

        yield call


@pytest.fixture
def admin(calling: Calls) -> httpx.Client:
    return calling(EVERYWHERE)


def statuses(room: CaRoom) -> set[str]:
    found = room.done("cert", "list", "--domain", room.domain, "--json").documents
    return {one["status"] for one in found}


@pytest.mark.parametrize("which", ["client_id", "serial", "fingerprint"])
def test_an_empty_name_selects_nothing(room: CaRoom, calling: Calls, which: str) -> None:
    room.issue()
    confined = Identity(room.domain, Role.ADMIN, "own")
    for client in (calling(EVERYWHERE), calling(confined)):
        for change in ("revoke", "hold", "release"):
            for more in ({}, {"role": "client"}, {"dry_run": True, "role": "client"}):
                answer = client.post(f"/admin/certificates/{change}", json={which: "", **more})
                assert answer.status_code in (403, 422), answer.text
    assert statuses(room) == {"active"}


@pytest.mark.parametrize(
    "asked",
    [
        "certificates?domain=%C3%A9", "certificates?name=%C3%A9", "certificates?after=%C3%A9",
        "certificates?name=%00", "certificates?expiring_days=nan",
        "certificates?expiring_days=inf", "certificates?expiring_days=1e300",
        "certificates?expiring_days=9e8", "certificates?expiring_days=-9e8",
        "clients?domain=%C3%A9", "clients?after=%C3%A9",
    ],
)  # fmt: skip
def test_what_no_list_can_hold_is_refused(admin: httpx.Client, asked: str) -> None:
    answer = admin.get(f"/admin/{asked}")
    assert (answer.status_code, answer.json()["title"]) == (422, "A value is not allowed")


def test_a_client_is_changed_by_nobody_of_another_domain(room: CaRoom, calling: Calls) -> None:
    room.issue()
    path = f"/admin/clients/{room.domain}:client_001"
    foreign = calling(Identity("other.example.com", Role.ADMIN, "own"))
    own = calling(Identity(room.domain, Role.ADMIN, "own"))
    assert foreign.patch(path, json={"disabled": True}).status_code == 404
    assert own.patch(path, json={}).json()["disabled_at"] is None
    assert own.patch(path, json={"disabled": True}).json()["disabled_at"]


def test_numbers_and_names_that_can_not_be_are_refused(room: CaRoom, admin: httpx.Client) -> None:
    for beyond in (1e300, -1e300, 9e8, -1):
        for path, name in (("certs", "days"), ("tokens", "minutes")):
            said = {"client_id": f"{room.domain}:a", name: beyond}
            answer = admin.post(f"/admin/{path}", json=said)
            assert answer.status_code == 422, answer.text
    for nobody in ("%C3%A9", "%C3%A9:a", f"{room.domain}:%C3%A9", "a"):
        assert admin.patch(f"/admin/clients/{nobody}", json={}).status_code == 422
    assert room.done("cert", "list", "--domain", room.domain).out == ""


@pytest.mark.parametrize("password", ["", "short", "nul is\0no good"])
def test_a_password_is_judged_before_anything_is_issued(
    room: CaRoom, admin: httpx.Client, password: str
) -> None:
    said = {"client_id": f"{room.domain}:a", "pkcs12_password": password}
    answer = admin.post("/admin/certs", json=said)
    assert answer.status_code == 422, answer.text
    assert room.done("cert", "list", "--domain", room.domain).out == ""


def test_a_request_brings_no_key_for_pkcs12(room: CaRoom, admin: httpx.Client) -> None:
    said = {"csr": make_csr().decode(), "pkcs12_password": "correct horse"}
    answer = admin.post("/admin/certs", json={"client_id": f"{room.domain}:a", **said})
    assert answer.status_code == 422, answer.text
    assert room.done("cert", "list", "--domain", room.domain).out == ""


def test_who_revokes_hears_whether_redis_was_told(
    room: CaRoom, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(change: str, **more: Any) -> Any:
        body = {"client_id": f"{room.domain}:client_001", **more}
        return admin.post(f"/admin/certificates/{change}", json=body).json()["redis_told"]

    room.issue()
    assert told("revoke", dry_run=True) is None
    assert told("hold") is True
    monkeypatch.setattr("main_server.ca.online.publish", AsyncMock(side_effect=RedisError))
    assert told("release") is False
    broken = OperationalError("", {}, Exception(2013, ""))
    monkeypatch.setattr("main_server.ca.online.read_revocations", Mock(side_effect=broken))
    assert told("revoke") is False, "the ledger broke off after it was done: that isn't taken back"
    assert statuses(room) == {"revoked"}


def test_a_hold_that_a_restored_ledger_forgot_is_made_good_for_all(
    room: CaRoom, admin: httpx.Client
) -> None:
    """It has no row as others have, but is on the lists: who changes it hears so, and Redis too."""
    serial, now = "7" * 32, utc_now()
    kid = Authorities(room.ca).signing.kid
    row = Forgotten(serial, kid, Reason.CERTIFICATE_HOLD, now, now + timedelta(days=1))
    transact(room.engine, lambda c: record_forgotten(c, row, 1, now))
    answer = admin.post("/admin/certificates/revoke", json={"serial": serial})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["serials"], answer.json()["redis_told"]) == ([serial], True)
    assert admin.post("/admin/certificates/revoke", json={"serial": serial}).status_code == 404


def test_who_has_tokens_alone_can_be_revoked_too(room: CaRoom, calling: Calls) -> None:
    room.issue("boss", "--role", "admin")
    admin = calling(Identity(room.domain, Role.ADMIN, "boss"))
    target = {"client_id": f"{room.domain}:a"}
    assert admin.post("/admin/tokens", json=target).status_code == 201
    answers = [admin.post("/admin/certificates/revoke", json=target) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 404]
    assert answers[0].json()["tokens_withdrawn"] == 1
