"""Enrolling and renewing as docs/enrolment.md says it: its program for Node.js, as it stands there,
against a real stack."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography import x509

from infra.dev.node import Node, find_node
from infra.dev.paths import ROOT
from tests.acceptance.site import Site
from tests.acceptance.test_renewal import old
from tests.unit.docs.documents import Document

PAGE = Document(ROOT / "docs" / "enrolment.md")
SECONDS = 120


@dataclass
class Program:
    """A folder with the page's program, and a `node` to run it with."""

    site: Site
    folder: Path
    node: Node = field(default_factory=find_node)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (program,) = [one.text for one in PAGE.blocks if one.language == "javascript"]
        (self.folder / "gateway.mjs").write_text(program)

    def shell(self, line: str) -> "subprocess.CompletedProcess[str]":
        line = line.replace("http://pki.example.com:8002", self.site.url("pki"))
        return subprocess.run(
            ["sh", "-euc", line],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=self.folder,
            env={**self.node.environment, "HOME": str(self.folder)},
        )

    def well(self, line: str) -> str:
        done = self.shell(line)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    @property
    def leaf(self) -> x509.Certificate:
        return x509.load_pem_x509_certificates((self.folder / "identity.pem").read_bytes())[0]


def lines() -> list[str]:
    (block,) = [one.text for one in PAGE.blocks if one.language == "sh"]
    return block.splitlines()


ENROL, SEND, RENEW = lines()


def token_for(site: Site, holder: str) -> str:
    config = str(site.stack.place.config / "main_server.yaml")
    command = [f"{sys.prefix}/bin/gatepost", "cert", "token", holder, "--json", "--config", config]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return str(json.loads(done.stdout)["token"])


@pytest.fixture
def program(site: Site, tmp_path: Path) -> Program:
    return Program(site, tmp_path / "node")


def test_node_enrols_sends_and_is_told_when_it_is_early(site: Site, program: Program) -> None:
    name = f"n-{uuid4().hex[:10]}"
    (program.folder / "token.txt").write_text(f"{token_for(site, f'example.com:{name}')}\n")
    assert f"gatepost://example.com/client/{name}" in program.well(ENROL)
    assert (program.folder / "identity.pem").stat().st_mode & 0o077 == 0
    site.wait_delivered(json.loads(program.well(SEND))["message_id"])
    assert "can be renewed from" in program.well(RENEW)
    # What was used is refused for good.
    assert "token-refused" in program.shell(ENROL).stderr


def test_node_renews_and_sends_with_the_new_certificate(
    site: Site, program: Program, tmp_path: Path
) -> None:
    files = old(site, tmp_path / "held")
    pair = files.key.read_text() + files.cert.read_text()
    (program.folder / "identity.pem").write_text(pair)
    (program.folder / "gateway.txt").write_text(site.url("proxy"))
    shutil.copy(files.ca, program.folder / "ca.pem")
    before = program.leaf
    assert "renewed, until" in program.well(RENEW)
    assert program.leaf.serial_number != before.serial_number
    assert program.leaf.public_key() != before.public_key()
    site.wait_delivered(json.loads(program.well(SEND))["message_id"])


def test_an_answer_of_somebody_else_is_not_taken(program: Program, site: Site) -> None:
    """Its root isn't the token's: whoever sits between can't bring one of its own."""
    token = token_for(site, f"example.com:n-{uuid4().hex[:10]}")
    other = token[:-4] + ("AAAA" if not token.endswith("AAAA") else "BAAA")
    (program.folder / "token.txt").write_text(other)
    assert "not to be trusted" in program.shell(ENROL).stderr
    assert not (program.folder / "identity.pem").exists()
