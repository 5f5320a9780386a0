"""What is answered on a real stack is what the API reference says: no field more, none less."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest
from cryptography import x509

from infra.site.api import INTERFACES
from infra.site.openapi.calls import Call
from infra.site.openapi.document import NDJSON
from proxy.batch import MAX_BATCH_BYTES
from proxy.endpoints import MAX_BODY_BYTES
from tests.acceptance.docs.told import check_told
from tests.acceptance.site import Site, submission

MESSAGES, CERTIFICATES = "/api/v1/messages", "/api/v1/certificates"
JSON = {"Content-Type": "application/json"}
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
    check_told(answer, call)
    if call.answer is None or isinstance(call.answer, str):
        return answer
    read = msgspec.json.decode(answer.content, type=call.answer)
    assert json.loads(msgspec.json.encode(read)) == answer.json()
    return answer.json()


def refused(status: int, client: httpx.Client, call: Call, path: str = "", **sent: Any) -> None:
    """Calls it, and holds the refusal against what is told of it."""
    answer = client.request(call.method, path or call.path, **sent)
    assert answer.status_code == status, answer.text
    check_told(answer, call)


def test_what_partners_are_answered(sender: httpx.Client) -> None:
    sent = as_told(sender, CALLS["POST", MESSAGES], json=submission())
    key = {"Idempotency-Key": uuid4().hex}
    for _ in range(2):
        as_told(sender, CALLS["POST", MESSAGES], json=submission(), headers=key)
    batch = CALLS["POST", f"{MESSAGES}/batch"]
    as_told(sender, batch, json=[submission(), submission()])
    line = json.dumps(submission()).encode() + b"\n"
    as_told(sender, batch, content=2 * line, headers={"Content-Type": NDJSON})
    one = CALLS["GET", MESSAGES + "/{message_id}"]
    as_told(sender, one, f"{MESSAGES}/{sent['message_id']}")
    as_told(sender, CALLS["GET", "/api/v1/whoami"])


def test_what_partners_are_refused_with(sender: httpx.Client, site: Site) -> None:
    send, batch = CALLS["POST", MESSAGES], CALLS["POST", f"{MESSAGES}/batch"]
    one, renew = CALLS["GET", MESSAGES + "/{message_id}"], CALLS["POST", f"{CERTIFICATES}/renew"]
    key = {"Idempotency-Key": uuid4().hex}
    as_told(sender, send, json=submission(), headers=key)
    refused(422, sender, send, json=submission(message_body="another"), headers=key)
    for call, most in ((send, MAX_BODY_BYTES), (batch, MAX_BATCH_BYTES)):
        refused(400, sender, call, content=b"{", headers=JSON)
        refused(413, sender, call, content=(most + 1) * b" ", headers=JSON)
        refused(415, sender, call, content=b"x", headers={"Content-Type": "text/plain"})
        refused(422, sender, call, json={"unknown": 1})
    as_told(sender, batch, json=[{}, submission()])
    refused(404, sender, one, f"{MESSAGES}/{uuid4()}")
    refused(400, sender, renew, content=b"{", headers=JSON)
    refused(422, sender, renew, json={"csr": "", "signature": ""})
    with site.calling("proxy-client") as other:
        for call in (send, batch, one, renew, CALLS["GET", "/api/v1/whoami"]):
            refused(403, other, call, call.path.replace("{message_id}", str(uuid4())), json={})


def test_a_method_that_there_is_not_is_refused_as_told(sender: httpx.Client, site: Site) -> None:
    for path in (MESSAGES, f"{MESSAGES}/batch", "/api/v1/whoami"):
        call = next(call for (_, known), call in CALLS.items() if known == path)
        answer = sender.put(path)
        assert answer.status_code == 405
        check_told(answer, call)
    with httpx.Client(base_url=site.url("pki"), trust_env=False) as client:
        for path in ("/crl", "/enrol", "/ca.pem"):
            call = next(call for (_, known), call in CALLS.items() if known == path)
            check_told(client.put(path), call)


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


def test_what_administrators_are_refused_with(admin: httpx.Client, site: Site) -> None:
    """Each call, by who may not call it at all, and with nothing that could be done."""
    calls = [call for (_, path), call in CALLS.items() if path.startswith("/admin")]
    nothing = {"client_id": "example.com:nobody-at-all", "domain": "nowhere.example"}
    with site.calling("proxy-client", "main_server") as other:
        for call in calls:
            path = call.path
            for name in call.in_path:
                path = path.replace(f"{{{name}}}", nothing.get(name, str(uuid4())))
            refused(403, other, call, path, json={})
            sent: dict[str, Any] = {"content": b"{", "headers": JSON} if call.request else {}
            answer = admin.request(call.method, path, **sent)
            if call.request or call.in_path:
                assert 400 <= answer.status_code < 500, f"{call.method} {path}: {answer.text}"
            check_told(answer, call)
            if call.request:
                refused(422, admin, call, path, json={"unknown": 1})


def test_what_the_pki_port_answers(site: Site) -> None:
    root = "/ca/root.pem"
    with httpx.Client(base_url=site.url("pki"), trust_env=False) as client:
        for path in ("/ca.pem", root, "/ca/intermediate.pem", "/crl", "/crl.pem"):
            as_told(client, CALLS["GET", path])
        issuer = x509.load_pem_x509_certificate(client.get("/ca/intermediate.pem").content)
        kid = x509.SubjectKeyIdentifier.from_public_key(issuer.public_key()).digest.hex()
        for path in ("/ca/{kid}.cer", "/crl/{kid}.crl"):
            as_told(client, CALLS["GET", path], path.replace("{kid}", kid))
            refused(404, client, CALLS["GET", path], path.replace("{kid}", "0" * 40))
        as_told(client, CALLS["POST", "/ocsp"], content=b"no question")
        as_told(client, CALLS["GET", "/ocsp/{request}"], "/ocsp/bm9uZQ==")
        refused(400, client, CALLS["POST", "/enrol"], content=b"{", headers=JSON)
        assert client.head(root).headers["content-type"] == CALLS["GET", root].answer
