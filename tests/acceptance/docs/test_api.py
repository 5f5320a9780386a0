"""What is answered on a real stack is what the API reference says: no field more, none less."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from infra.site.api import INTERFACES
from infra.site.openapi.calls import Call
from tests.acceptance.site import Site, submission

CALLS = {(call.method, call.path): call for one in INTERFACES for call in one.calls}


@pytest.fixture
def admin(site: Site) -> Iterator[httpx.Client]:
    with site.calling("admin", "main_server") as client:
        yield client


@pytest.fixture
def sender(site: Site) -> Iterator[httpx.Client]:
    with site.calling() as client:
        yield client


def as_told(client: httpx.Client, call: Call, path: str = "", **sent: Any) -> Any:
    """Calls it, and holds the answer against its type."""
    answer = client.request(call.method, path or call.path, **sent)
    assert answer.status_code == call.status, answer.text
    if call.answer is None or isinstance(call.answer, str):
        return answer
    read = msgspec.json.decode(answer.content, type=call.answer)
    assert json.loads(msgspec.json.encode(read)) == answer.json()
    for name in call.answered:
        assert name in answer.headers or name == "Idempotency-Replayed"
    return answer.json()


def test_what_partners_are_answered(sender: httpx.Client) -> None:
    messages = "/api/v1/messages"
    sent = as_told(sender, CALLS["POST", messages], json=submission())
    as_told(sender, CALLS["POST", f"{messages}/batch"], json=[submission(), submission()])
    one = CALLS["GET", messages + "/{message_id}"]
    as_told(sender, one, f"{messages}/{sent['message_id']}")
    as_told(sender, CALLS["GET", "/api/v1/whoami"])


def test_what_administrators_are_answered_about_clients(admin: httpx.Client) -> None:
    holder = f"example.com:api-{uuid4().hex[:8]}"
    as_told(admin, CALLS["POST", "/admin/clients"], json={"client_id": holder})
    client = f"/admin/clients/{holder}"
    as_told(admin, CALLS["GET", "/admin/clients"])
    as_told(admin, CALLS["GET", "/admin/clients/{client_id}"], client)
    change = {"rate_per_second": 50}
    as_told(admin, CALLS["PATCH", "/admin/clients/{client_id}"], client, json=change)
    as_told(admin, CALLS["POST", "/admin/tokens"], json={"client_id": holder})
    kept = as_told(admin, CALLS["GET", "/admin/tokens"], f"/admin/tokens?name={holder[12:]}")
    withdraw = CALLS["DELETE", "/admin/tokens/{token}"]
    as_told(admin, withdraw, f"/admin/tokens/{kept['tokens'][0]['token']}")


def test_what_administrators_are_answered_about_certificates(admin: httpx.Client) -> None:
    holder = f"example.com:api-{uuid4().hex[:8]}"
    made = as_told(admin, CALLS["POST", "/admin/certs"], json={"client_id": holder})
    as_told(admin, CALLS["GET", "/admin/certificates"])
    path = f"/admin/certificates/{made['serial']}"
    as_told(admin, CALLS["GET", "/admin/certificates/{serial}"], path)
    renew = CALLS["POST", "/admin/certificates/{serial}/renew"]
    as_told(admin, renew, f"{path}/renew", json={})
    for act in ("hold", "release", "revoke"):
        call = CALLS["POST", f"/admin/certificates/{act}"]
        as_told(admin, call, json={"client_id": holder})
    as_told(admin, CALLS["GET", "/admin/endings"])
    as_told(admin, CALLS["GET", "/admin/anchors"])


def test_what_administrators_are_answered_about_retention(admin: httpx.Client) -> None:
    holder = f"example.com:api-{uuid4().hex[:8]}"
    admin.post("/admin/clients", json={"client_id": holder}).raise_for_status()
    begin = "/admin/retention"
    as_told(admin, CALLS["GET", begin + "/domains/{domain}"], f"{begin}/domains/example.com")
    as_told(admin, CALLS["GET", begin + "/clients/{client_id}"], f"{begin}/clients/{holder}")
    days = CALLS["POST", begin + "/clients/{client_id}"]
    as_told(admin, days, f"{begin}/clients/{holder}", json={"retention_days": 14})
    hold = CALLS["POST", begin + "/clients/{client_id}/holds"]
    made = as_told(admin, hold, f"{begin}/clients/{holder}/holds", json={"reason": "a test"})
    lift = CALLS["POST", begin + "/holds/{hold_id}/lift"]
    as_told(admin, lift, f"{begin}/holds/{made['hold']}/lift", json={"reason": "over"})
    as_told(admin, CALLS["GET", "/admin/subjects"])


def test_what_the_pki_port_answers(site: Site) -> None:
    types = {call.path: call.answer for (how, _), call in CALLS.items() if how == "GET"}
    with httpx.Client(base_url=site.url("pki"), trust_env=False) as client:
        for path in ("/ca.pem", "/ca/root.pem", "/ca/intermediate.pem", "/crl", "/crl.pem"):
            answer = client.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == types[path]
