"""What administrators call, on a running stack: each change is seen by the edge, and in the audit
log; an administrator of a domain sees its domain alone (I12)."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12
from sqlalchemy import text

from gatepost.cli.main import run
from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles
from main_server.store.database import transact
from tests.acceptance.site import Site, accepted, eventually, post
from tests.csrs import make_csr

HOLD = "certificateHold"


@pytest.fixture
def admin(site: Site) -> Iterator[httpx.Client]:
    with site.calling("admin", "main_server") as client:
        yield client


@pytest.fixture
def confined(site: Site) -> Iterator[httpx.Client]:
    pair = site.issue(Identity("example.com", Role.ADMIN, f"admin-{uuid4().hex[:8]}"))
    with site.calling(pair.files, "main_server") as client:
        eventually(lambda: client.get("/admin/tokens").status_code == 200, "it is known")
        yield client


def fresh() -> str:
    return f"c-{uuid4().hex[:10]}"


def issued(admin: httpx.Client, **given: Any) -> dict[str, Any]:
    answer = admin.post("/admin/certs", json=given)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def files(folder: Path, said: dict[str, Any]) -> TlsFiles:
    paths = [folder / name for name in ("client.pem", "client.key", "ca.pem")]
    for path, name in zip(paths, ("cert", "key", "ca"), strict=True):
        path.write_text(said[name])
    return TlsFiles(*paths)


def audited(site: Site, action: str, subject: str) -> list[dict[str, Any]]:
    query = text("SELECT actor, details FROM audit_log WHERE action = :a AND subject = :s")
    with site.engine.connect() as connection:
        rows = connection.execute(query, {"a": action, "s": subject}).all()
    return [{"actor": row.actor, **json.loads(row.details)} for row in rows]


def audited_about(site: Site, what: str) -> list[dict[str, Any]]:
    """All that the audit log has of it, in its order."""
    query = text(
        "SELECT * FROM audit_log WHERE details LIKE :part OR subject = :whole ORDER BY seq"
    )
    with site.engine.connect() as connection:
        found = connection.execute(query, {"part": f"%{what}%", "whole": what})
        return [dict(row) for row in found.mappings()]


def test_an_issued_certificate_sends_and_a_revoked_one_does_not(
    site: Site, admin: httpx.Client, tmp_path: Path
) -> None:
    name = fresh()
    said = issued(admin, client_id=f"example.com:{name}")
    mine = files(tmp_path, said)
    site.wait_known(mine)
    with site.calling(mine) as client:
        accepted(post(client))
    (entry,) = audited(site, "certificate.issued", said["identity"])
    assert entry["actor"] == "gatepost://gatepost/admin/admin"
    assert entry["serial"] == said["serial"]
    target = {"fingerprint": said["fingerprint"], "reason": "keyCompromise"}
    dry = admin.post("/admin/certificates/revoke", json=target | {"dry_run": True}).json()
    assert (dry["serials"], dry["dry_run"]) == ([said["serial"]], True)
    done = admin.post("/admin/certificates/revoke", json=target).json()
    assert done["serials"] == [said["serial"]]
    shown = admin.get(f"/admin/certificates/{said['serial']}").json()
    assert (shown["status"], shown["reason"]) == ("revoked", "keyCompromise")

    def refused() -> bool:
        try:
            with site.calling(mine) as client:
                return post(client).status_code == 403
        except httpx.HTTPError:
            return True

    eventually(lambda: all(refused() for _ in range(6)), "it is refused", 5)


def test_a_request_is_certified_and_pkcs12_holds_a_key(admin: httpx.Client) -> None:
    said = issued(admin, client_id=f"{fresh()}.example.com", csr=make_csr().decode())
    assert said["key"] is None
    name = fresh()
    packed = issued(admin, client_id=f"example.com:{name}", pkcs12_password="correct horse")
    assert packed["key"] is None
    data = base64.b64decode(packed["pkcs12"])
    key, leaf, _ = pkcs12.load_key_and_certificates(data, b"correct horse")
    assert key is not None
    assert leaf == x509.load_pem_x509_certificate(packed["cert"].encode())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"client_id": "a", "extra": "CANARY"}, 422),
        ({"client_id": "example.com:a", "role": "CANARY"}, 422),
        ({"client_id": "../CANARY"}, 403),
        ({"client_id": "example.com:a", "days": 1000}, 422),
        ({"client_id": "example.com:a", "csr": "CANARY"}, 422),
        ({"client_id": "nowhere.example:a"}, 404),
        ({"client_id": "gatepost:a"}, 422),
    ],
)
def test_a_wrong_order_is_refused_and_never_repeated(
    admin: httpx.Client, body: dict[str, Any], status: int
) -> None:
    answer = admin.post("/admin/certs", json=body)
    assert answer.status_code == status, answer.text
    assert "CANARY" not in answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_lists_are_filtered_and_come_in_pages(admin: httpx.Client) -> None:
    name = fresh()
    serials = {issued(admin, client_id=f"example.com:{name}")["serial"] for _ in range(3)}
    found, after = set(), ""
    while True:
        query = {"domain": "example.com", "name": name, "limit": "2", "after": after}
        page = admin.get("/admin/certificates", params=query).json()
        found |= {one["serial"] for one in page["certificates"]}
        if page["next"] is None:
            break
        after = page["next"]
    assert found == serials
    query = {"name": name, "role": "client", "expiring_days": "1"}
    assert admin.get("/admin/certificates", params=query).json()["certificates"] == []


def test_hold_and_release(site: Site, admin: httpx.Client) -> None:
    serial = issued(admin, client_id=f"example.com:{fresh()}")["serial"]
    target = {"serial": serial}
    path = f"/admin/certificates/{serial}"
    assert admin.post("/admin/certificates/hold", json=target).status_code == 200
    assert admin.get(path).json()["status"] == "held"
    assert admin.post("/admin/certificates/release", json=target).status_code == 200
    assert admin.get(path).json()["status"] == "active"
    assert admin.post("/admin/certificates/release", json=target).status_code == 404
    assert admin.post("/admin/certificates/revoke", json={}).status_code == 422
    as_reason = admin.post("/admin/certificates/revoke", json=target | {"reason": HOLD})
    assert admin.post("/admin/certificates/revoke", json=target).status_code == 200

    def logged(event: str) -> list[str]:
        return [one["request_id"] for one in site.events("main_server", event, serials=[serial])]

    actions = [one["action"] for one in audited_about(site, serial)]
    changes = ["held", "released", "held", "revoked"]
    assert actions == [f"certificate.{one}" for one in ("issued", *changes)]
    eventually(lambda: logged("certificate.revoked"), "the last one is in the log")
    assert len(logged("certificate.held")) == 2
    assert as_reason.headers["x-request-id"] in logged("certificate.held")
    assert len(logged("certificate.released")) == len(logged("certificate.revoked")) == 1


def test_all_certificates_of_a_name_go_at_once(admin: httpx.Client) -> None:
    name = fresh()
    serials = {issued(admin, client_id=f"{name}.example.com")["serial"] for _ in range(2)}
    order = {"client_id": f"example.com:{name}", "reason": "cessationOfOperation"}
    dry = admin.post("/admin/certificates/revoke", json=order | {"dry_run": True}).json()
    done = admin.post("/admin/certificates/revoke", json=order).json()
    assert set(dry["serials"]) == set(done["serials"]) == serials
    query = {"name": name, "status": "revoked"}
    listed = admin.get("/admin/certificates", params=query).json()["certificates"]
    assert {(one["serial"], one["reason"]) for one in listed} == {
        (serial, "cessationOfOperation") for serial in serials
    }


def test_clients_are_created_limited_and_disabled(
    site: Site, admin: httpx.Client, tmp_path: Path
) -> None:
    client_id = f"example.com:{fresh()}"
    created = admin.post("/admin/clients", json={"client_id": client_id, "rate_per_second": 7})
    assert (created.status_code, created.json()["rate_per_second"]) == (201, 7)
    assert admin.post("/admin/clients", json={"client_id": client_id}).status_code == 409
    mine = files(tmp_path, issued(admin, client_id=client_id))
    site.wait_known(mine)
    changed = admin.patch(f"/admin/clients/{client_id}", json={"disabled": True, "burst": 9})
    assert changed.json()["disabled_at"] is not None
    assert (changed.json()["rate_per_second"], changed.json()["burst"]) == (7, 9)

    def refused() -> bool:
        with site.calling(mine) as client:
            return client.get("/api/v1/whoami").status_code == 403

    eventually(lambda: all(refused() for _ in range(6)), "it may not send")
    assert admin.post("/admin/certs", json={"client_id": client_id}).status_code == 409
    admin.patch(f"/admin/clients/{client_id}", json={"disabled": False})
    site.wait_known(mine)
    actions = [one["action"] for one in audited_about(site, client_id)]
    assert actions == ["client.created", "client.changed", "client.changed"]
    assert admin.patch(f"/admin/clients/{client_id}", json={"burst": 0}).status_code == 422
    assert admin.patch("/admin/clients/example.com:nobody", json={}).status_code == 404


def test_a_token_that_was_withdrawn_enrols_nobody(
    site: Site, admin: httpx.Client, tmp_path: Path
) -> None:
    client_id = f"example.com:{fresh()}"
    made = admin.post("/admin/tokens", json={"client_id": client_id}).json()
    file = tmp_path / "token"
    file.write_text(made["token"])
    command = ["enrol", made["url"], "--folder", str(tmp_path / "a"), "--token-file", str(file)]
    tokens = admin.get("/admin/tokens").json()["tokens"]
    (kept,) = [one for one in tokens if one["identity"] == made["identity"]]
    assert admin.delete(f"/admin/tokens/{kept['token']}").status_code == 204
    assert run(command) == 3
    assert admin.delete("/admin/tokens/00").status_code == 404
    actions = [one["action"] for one in audited_about(site, made["identity"])]
    assert actions == ["token.created", "token.withdrawn"]


def test_an_administrator_of_a_domain_sees_it_alone(
    admin: httpx.Client, confined: httpx.Client, site: Site
) -> None:
    own = issued(confined, client_id=fresh())
    assert own["identity"].startswith("gatepost://example.com/client/")
    proxy = admin.get("/admin/certificates", params={"role": "proxy"}).json()["certificates"][0]
    for serial in (proxy["serial"], "0" * 32):
        answers = [
            confined.get(f"/admin/certificates/{serial}"),
            confined.post("/admin/certificates/revoke", json={"serial": serial}),
            confined.post("/admin/certificates/hold", json={"serial": serial}),
            confined.patch("/admin/clients/gatepost:proxy-1", json={"disabled": True}),
            confined.post("/admin/tokens", json={"client_id": "gatepost:proxy-1"}),
        ]
        assert [answer.status_code for answer in answers] == [404] * 5
    for path in ("certificates", "clients"):
        found = confined.get(f"/admin/{path}", params={"domain": "gatepost"}).json()
        assert found[path] == []
        everything = confined.get(f"/admin/{path}").json()[path]
        assert {one["domain"] for one in everything} == {"example.com"}
    wanted = {"client_id": "example.com:p", "role": "proxy"}
    assert confined.post("/admin/certs", json=wanted).status_code == 422


def test_a_partner_enrols_with_a_token_and_sends(
    site: Site, admin: httpx.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = fresh()
    token = admin.post("/admin/tokens", json={"client_id": f"example.com:{name}"}).json()
    file = tmp_path / "token"
    file.write_text(token["token"].lower() + "\n")
    folder = tmp_path / "partner"
    command = ["enrol", token["url"], "--folder", str(folder), "--token-file", str(file), "--json"]
    assert run(command) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["identity"] == f"gatepost://example.com/client/{name}"
    assert {one.name for one in folder.iterdir()} == {
        "client.key", "client.pem", "ca.pem", "config.toml",
    }  # fmt: skip
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    mine = TlsFiles(folder / "client.pem", folder / "client.key", folder / "ca.pem")
    site.wait_known(mine)
    with site.calling(mine) as client:
        accepted(post(client))
    before = (folder / "client.key").read_bytes()
    assert run(command) == 2, "a key that is there is never written over"
    command[3] = str(tmp_path / "other")
    assert run(command) == 3, "a token is for one time"
    assert (folder / "client.key").read_bytes() == before
    (kept,) = [one for one in admin.get("/admin/tokens").json()["tokens"] if one["serial"]][:1]
    assert kept["used_at"]
    assert token["token"] not in json.dumps(admin.get("/admin/tokens").json())
    query = text("SELECT * FROM enrolment_tokens")
    rows = str(transact(site.engine, lambda c: c.execute(query).all()))
    assert token["token"] not in rows
