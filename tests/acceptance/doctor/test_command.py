"""`gatepost doctor` as it is typed: what it says, its exit codes, and the archive for support."""

import json
import os
import re
import secrets
import shutil
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis

from infra.dev.stack import Stack
from tests.acceptance.client.conftest import Command, Ran
from tests.acceptance.doctor.conftest import DISKS
from tests.acceptance.site import MESSAGES, Site, accepted, post
from tests.integration.main_server.test_at_rest import forms
from tests.unit.docs.names import wrong_with_command

BODY = f"canary \u00e9\u6f22\U0001f600 {secrets.token_hex(6)} body"
NUMBER = f"+4917{secrets.randbelow(10**9):09d}"
TOKEN = f"eyJ{secrets.token_urlsafe(24)}.{secrets.token_urlsafe(24)}.{secrets.token_urlsafe(24)}"
WITHOUT = [word for name in sorted(DISKS) for word in ("--without", name)]


def findings(ran: Ran) -> list[dict[str, str]]:
    return [json.loads(line) for line in ran.out.splitlines()[:-1]]


def test_a_healthy_stack_in_words_and_as_json(gatepost: Command) -> None:
    said = gatepost("doctor", *WITHOUT)
    assert (said.code, said.err) == (0, "")
    *names, summary = said.out.splitlines()
    assert names[0].startswith("in order    settings, secrets, certificates")
    assert "in order." in summary
    ran = gatepost("doctor", *WITHOUT, "--json")
    assert ran.code == 0
    assert {one["state"] for one in findings(ran)} == {"ok"}
    counts = json.loads(ran.out.splitlines()[-1])["counts"]
    assert counts["ok"] == len(findings(ran))


def test_what_is_wrong_comes_first_with_its_command(
    gatepost: Command, operator: "redis.Redis", patient: Stack
) -> None:
    key = patient.place.pki / "worker.key"
    key.chmod(0o640)
    operator.config_set("appendfsync", "everysec")
    try:
        ran = gatepost("doctor", *WITHOUT)
        alone = gatepost("doctor", "secrets")
    finally:
        operator.config_set("appendfsync", "always")
        key.chmod(0o600)
    lines = ran.out.splitlines()
    assert ran.code == 2
    assert lines[0].split()[:2] == ["wrong", "redis-persistence"]
    assert lines[1].strip() == "appendfsync must be always, and is everysec"
    assert lines[2].strip() == "$ ./dev down && ./dev up --detach"
    assert lines[3].split()[:2] == ["warning", "secrets"]
    assert lines[5].strip() == f"$ chmod 600 {key}"
    assert alone.code == 1


def test_with_all_down_that_is_what_is_found(gatepost: Command, patient: Stack) -> None:
    """A checkout in which nothing runs, with the same settings."""
    folder = patient.place.folder.parent / "down"
    shutil.copytree(patient.place.config, folder)
    for file in folder.glob("*.yaml"):
        text = file.read_text()
        for port in _ports(text):
            text = text.replace(f":{port}", ":1").replace(f"port: {port}", "port: 1")
        file.write_text(text)
    try:
        ran = gatepost("doctor", "--folder", folder, "--json", *WITHOUT)
    finally:
        shutil.rmtree(folder)
    assert ran.code == 2
    troubled = {one["look"]: one["state"] for one in findings(ran) if one["state"] != "ok"}
    assert troubled["services"] == troubled["redis"] == troubled["ledger"] == "wrong"
    assert troubled["main-server"] == "wrong"
    assert troubled["partitions"] == troubled["queue"] == "unknown"
    assert troubled.keys().isdisjoint({"settings", "secrets", "certificates", "bundle"})
    for one in findings(ran):
        assert "failed" not in one["found"], one
        assert wrong_with_command(one.get("command", "")) is None


def _ports(text: str) -> set[str]:
    return set(re.findall(r":(\d{4,5})\b", text)) | set(re.findall(r"port: (\d+)", text))


@pytest.fixture
def nobody(patient: Stack, tmp_path: Path) -> Iterator[Path]:
    """Settings that this user may not read."""
    for name in ("proxy", "worker"):
        (tmp_path / name).mkdir()
        shutil.copy(patient.place.config / f"{name}.yaml", tmp_path / name / "config.yaml")
    (tmp_path / "proxy" / "config.yaml").chmod(0)
    (tmp_path / "worker").chmod(0)
    yield tmp_path
    (tmp_path / "worker").chmod(0o700)


def test_what_may_not_be_read_can_not_be_told(gatepost: Command, nobody: Path) -> None:
    if os.geteuid() == 0:  # root may read everything, but for this
        program, gatepost.program = gatepost.program, "setpriv"
        dropped = ["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]
        ran = gatepost(*dropped, "--", program, "doctor", "--folder", nobody, "--json")
    else:
        ran = gatepost("doctor", "--folder", nobody, "--json")
    found = findings(ran)
    assert {(one["look"], one["state"]) for one in found} == {("settings", "unknown")}
    assert len(found) == 2
    assert {one["command"] for one in found} == {"sudo gatepost doctor"}
    assert ran.code == 3


def members(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as archive:
        found = {}
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            assert stream is not None
            found[member.name.removeprefix("gatepost-doctor/")] = stream.read()
        return found


@pytest.fixture
def planted(patient: Stack, site: Site) -> None:
    """A canary in all that a log could hold of it by a fault of ours, among what is true."""
    with site.calling() as client:
        message_id = accepted(post(client, json={"sender_number": NUMBER, "message_body": BODY}))
        client.post(MESSAGES, json={"sender_number": BODY, "message_body": NUMBER})
        client.get(f"{MESSAGES}/{NUMBER}", headers={"x-request-id": NUMBER.removeprefix("+")})
        with pytest.raises(httpx.HTTPError):
            httpx.get(site.url("proxy"), verify=False, trust_env=False).raise_for_status()
    site.wait_delivered(message_id)
    log = patient.place.log("proxy")
    event = {"level": "error", "service": "proxy", "pid": 1, "event": "request.failed"}
    lines = [
        json.dumps({**event, "reason": BODY, "request_id": "x"}),
        json.dumps({**event, "message": BODY, "client_id": NUMBER, "authorization": TOKEN}),
        json.dumps({**event, "status": NUMBER, "error": BODY, "where": [BODY, NUMBER]}),
        json.dumps({**event, "note": {"deep": BODY}, "kids": [NUMBER]}),
        json.dumps({**event, "event": "store.unsafe", "reason": f"{TOKEN} {NUMBER}"}),
        f"Traceback (most recent call last): {BODY} {NUMBER} {TOKEN}",
    ]
    with log.open("a", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def sought(patient: Stack) -> dict[str, set[bytes]]:
    """All that must not be in the archive, in each form: by what it is."""
    folder = patient.place.folder
    found = {"body": forms(BODY), "number": forms(NUMBER) | forms(NUMBER[1:])}
    found["token"] = {TOKEN.encode()}
    for store in ("redis", "mariadb"):
        passwords = json.loads((folder / store / "passwords.json").read_text())
        for user, password in passwords.items():
            found[f"{store} {user}"] = forms(password)
    for file in folder.rglob("*.key"):
        data = file.read_bytes()
        whole = {data, data.hex().encode()}
        lines = {line for line in data.splitlines() if len(line) > 40 and not line.startswith(b"-")}
        found[str(file)] = whole | (lines if b"PRIVATE" in data else set())
    for file in (folder / "secrets").iterdir():
        found[f"secret {file}"] = {file.read_bytes().strip()}
    return found


def test_the_archive_holds_what_helps_and_no_secret(
    gatepost: Command, patient: Stack, planted: None, tmp_path: Path
) -> None:
    file = tmp_path / "support.tar.gz"
    ran = gatepost("doctor", *WITHOUT, "--bundle", file)
    assert ran.code == 0, ran.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    held = members(file)
    assert held.keys() >= {"findings.json", "versions.json", "settings.json"}
    assert held.keys() >= {"logs/proxy.json", "metrics/proxy.txt", "logs/worker.json"}
    assert "left_out.json" not in held
    seen = {
        what: name
        for what, ways in sought(patient).items()
        for name, data in held.items()
        if any(way in data for way in ways)
    }
    assert seen == {}

    events = [json.loads(line) for line in held["logs/proxy.json"].splitlines()]
    assert any(one.get("event") == "service.started" for one in events)
    assert any(one.get("status") == 202 for one in events)
    assert events[-1]["lines that are no events"] >= 1
    assert b"gatepost_proxy_requests_total{" in held["metrics/proxy.txt"]
    settings = json.loads(held["settings.json"])
    assert settings["proxy"]["redis.url"]["value"] == "********"
    said = {one["look"]: one["found"] for one in json.loads(held["findings.json"])["findings"]}
    assert "which this release works with" in said["ledger-schema"]


def test_the_search_sees_what_is_there(patient: Stack, planted: None) -> None:
    """The test of the test: all of it stands in the files that the archive is made from."""
    folder = patient.place.folder
    files = [patient.place.log("proxy"), *folder.rglob("*.key"), *folder.rglob("passwords.json")]
    files += patient.place.secrets.iterdir()
    places = b"".join(file.read_bytes() for file in files)
    missing = [w for w, ways in sought(patient).items() if not any(way in places for way in ways)]
    assert missing == []
