"""A report for a data subject, by the installed command and two administrators' certificates."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from gatepost.identity import Identity, Role
from gatepost.tls import TlsFiles
from infra.dev.stack import Stack
from tests.acceptance.client.conftest import Command, Ran
from tests.acceptance.site import Site, accepted, eventually, post, submission

NUMBER = "+15550188431"
BODY = "Words that only two together may read."


@pytest.fixture
def gatepost(stack: Stack) -> Command:
    return Command(stack)


def admin_of(site: Site, domain: str) -> TlsFiles:
    files = site.issue(Identity(domain, Role.ADMIN, f"admin-{uuid4().hex[:8]}")).files
    with site.calling(files, "main_server") as client:
        eventually(lambda: client.get("/admin/subjects").status_code == 200, "it is known")
    return files


def test_it_takes_two_administrators(site: Site, gatepost: Command, tmp_path: Path) -> None:
    with site.calling() as client:
        sent = {accepted(post(client, json=submission(sender_number=NUMBER, message_body=BODY)))}
    site.wait_delivered(*sent)
    ann, bob, stranger = (
        admin_of(site, domain) for domain in ("example.com", "example.com", "elsewhere.example")
    )

    def run(who: TlsFiles, *arguments: object, stdin: str = "") -> Ran:
        files = ("--ca", who.ca_file, "--cert", who.cert_file, "--key", who.key_file)
        there = ("--url", site.url("main_server"), *files)
        return gatepost("subject", *arguments, *there, "--json", stdin=stdin)

    asked = run(ann, "report", stdin=f"{NUMBER}\n")
    assert asked.code == 0, asked.err
    report_id = asked.result["report_id"]
    assert asked.result["domains"] == {"example.com": 1}
    assert asked.result["commands"]["approve"].startswith(f"gatepost subject approve {report_id}")
    assert NUMBER not in asked.out
    file = tmp_path / "report.json"
    fetching = ("report", "--id", report_id, "--output")
    assert run(ann, *fetching, file).code == 3, "it is not approved"
    assert not file.exists()
    assert run(ann, "approve", report_id).code == 8
    foreign = run(stranger, "approve", report_id)
    nothing = run(stranger, "approve", uuid4())
    assert (foreign.code, foreign.error["message"]) == (4, nothing.error["message"])
    assert run(stranger, "list").out == ""
    assert report_id in run(bob, "list").out
    assert run(bob, "approve", report_id).code == 0
    assert run(bob, *fetching, file).code == 8

    assert run(ann, *fetching, file).result["messages"] == 1
    assert file.stat().st_mode & 0o777 == 0o600
    (message,) = json.loads(file.read_text())["messages"]
    assert (message["message_id"], message["message_body"]) == (*sent, BODY)
    before = file.read_bytes()
    assert run(ann, *fetching, file).code == 2, "nothing is written over"
    assert file.read_bytes() == before
    assert json.loads(run(ann, *fetching, "-").out)["messages"] == [message]
    for name in ("main_server", "proxy", "worker"):
        assert NUMBER.removeprefix("+") not in site.stack.place.log(name).read_text()
    assert site.events("main_server", "subject.asked", report_id=report_id)


def test_a_number_is_no_argument(gatepost: Command) -> None:
    ran = gatepost("subject", "report", NUMBER)
    assert ran.code == 2
    assert NUMBER not in ran.out + ran.err
