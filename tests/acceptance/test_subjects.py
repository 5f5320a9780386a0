"""A report for a data subject, by the installed command and two administrators' certificates."""

import json
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles
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


@dataclass
class Desk:
    """Where administrators use the command, each with a certificate of their own."""

    site: Site
    command: Command

    def run(self, who: TlsFiles, *arguments: object, stdin: str = "") -> Ran:
        files = ("--ca", who.ca_file, "--cert", who.cert_file, "--key", who.key_file)
        there = ("--url", self.site.url("main_server"), *files)
        return self.command("subject", *arguments, *there, "--json", stdin=stdin)

    def ask(self, who: TlsFiles) -> Ran:
        asked = self.run(who, "report", stdin=f"{NUMBER}\n")
        assert asked.code == 0, asked.err
        assert NUMBER not in asked.out
        return asked


@pytest.fixture
def desk(site: Site, gatepost: Command) -> Desk:
    return Desk(site, gatepost)


def test_it_takes_two_administrators(site: Site, desk: Desk, tmp_path: Path) -> None:
    with site.calling() as client:
        sent = {accepted(post(client, json=submission(sender_number=NUMBER, message_body=BODY)))}
    site.wait_delivered(*sent)
    ann, bob = (admin_of(site, "example.com") for _ in range(2))
    asked = desk.ask(ann)
    report_id = asked.result["report_id"]
    assert asked.result["domains"] == {"example.com": 1}
    assert asked.result["commands"]["approve"].startswith(f"gatepost subject approve {report_id}")
    file = tmp_path / "report.json"
    fetching = ("report", "--id", report_id, "--output")
    assert desk.run(ann, *fetching, file).code == 3, "it is not approved"
    assert not file.exists()
    assert desk.run(ann, "approve", report_id).code == 8
    assert report_id in desk.run(bob, "list").out
    assert desk.run(bob, "approve", report_id).code == 0
    assert desk.run(bob, *fetching, file).code == 8

    assert desk.run(ann, *fetching, file).result["messages"] == 1
    assert file.stat().st_mode & 0o777 == 0o600
    (message,) = json.loads(file.read_text())["messages"]
    assert (message["message_id"], message["message_body"]) == (*sent, BODY)
    before = file.read_bytes()
    assert desk.run(ann, *fetching, file).code == 2, "nothing is written over"
    assert file.read_bytes() == before
    assert json.loads(desk.run(ann, *fetching, "-").out)["messages"] == [message]


def test_another_domains_is_as_one_that_is_not_there(site: Site, desk: Desk) -> None:
    ann, stranger = admin_of(site, "example.com"), admin_of(site, "elsewhere.example")
    report_id = desk.ask(ann).result["report_id"]
    foreign = desk.run(stranger, "approve", report_id)
    nothing = desk.run(stranger, "approve", uuid4())
    assert (foreign.code, foreign.error["message"]) == (4, nothing.error["message"])
    assert desk.run(stranger, "list").out == ""
    for name in ("main_server", "proxy", "worker"):
        assert NUMBER.removeprefix("+") not in site.stack.place.log(name).read_text()
    assert site.events("main_server", "subject.asked", report_id=report_id)


def test_a_number_is_no_argument(gatepost: Command) -> None:
    ran = gatepost("subject", "report", NUMBER)
    assert ran.code == 2
    assert NUMBER not in ran.out + ran.err
