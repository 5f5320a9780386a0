"""A partner's afternoon: every line of docs/partners.md, as it stands there, on a real stack.

Only the two addresses are those of this stack. What is shown as an answer has the fields that are
answered. The partner has the client's wheel, what that depends on, and nothing else of Python's.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from infra.dev.jvm import find_jdk
from infra.dev.paths import ROOT
from tests.acceptance.site import Site, eventually
from tests.alone import Alone
from tests.unit.docs.documents import Block, Document

PAGE = Document(ROOT / "docs" / "partners.md")
SECONDS = 120
UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@dataclass
class Partner:
    """A machine of theirs: a home folder, and nothing of ours but the client."""

    site: Site
    alone: Alone
    home: Path
    name: str
    said: dict[str, str] = field(default_factory=dict)

    @property
    def holder(self) -> str:
        return f"example.com:{self.name}"

    @property
    def folder(self) -> Path:
        return self.home / ".config" / "gatepost"

    def run(self, *command: str, stdin: str = "", folder: Path | None = None) -> str:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=folder or (self.folder if self.folder.exists() else self.home),
            env=self.alone.environment(self.home),
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def shell(self, text: str, stdin: str = "", folder: Path | None = None) -> str:
        return self.run("sh", "-euc", self.here(text), stdin=stdin, folder=folder)

    def here(self, text: str) -> str:
        text = text.replace("http://pki.example.com:8002", self.site.url("pki"))
        text = text.replace("=NAME", f"={self.name}")
        return text.replace("https://gateway.example.com:8001", self.site.url("proxy"))

    def operator(self, *command: str) -> Any:
        """What the gateway's people do, on their machine."""
        config = str(self.site.stack.place.config / "main_server.yaml")
        words = [f"{sys.prefix}/bin/gatepost", *command, "--config", config]
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)
        return json.loads(done.stdout)

    def wait_known(self) -> None:
        """The page says that it takes a second or two."""
        url = f"{self.site.url('proxy')}/api/v1/whoami"
        files = ["--cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"]
        look = ["curl", "--silent", *files, url]
        eventually(lambda: all('"role"' in self.run(*look) for _ in range(6)), "it is known")


def blocks(language: str) -> list[str]:
    return [block.text for block in PAGE.blocks if block.language == language]


def block(language: str, words: str) -> str:
    (found,) = [text for text in blocks(language) if words in text]
    return found


def partner_of(site: Site, alone: Alone, home: Path) -> Partner:
    return Partner(site, alone, home, f"p-{uuid4().hex[:10]}")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return Alone(tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def partner(site: Site, alone: Alone, tmp_path_factory: pytest.TempPathFactory) -> Partner:
    """One who has gone through all lines for a shell, in their order."""
    partner = partner_of(site, alone, tmp_path_factory.mktemp("partner"))
    shutil.copy(alone.wheel, partner.home)
    token = partner.operator("cert", "token", partner.holder, "--json")["token"]
    install, enrol, *others = blocks("sh")
    partner.shell(install)
    partner.said[enrol] = partner.shell(enrol, stdin=token)
    partner.wait_known()
    for text in others:
        if "order-1.id" in text:
            wait_delivered(partner)
        partner.said[text] = partner.shell(text)
    return partner


def wait_delivered(partner: Partner) -> None:
    """So that the state is that which the page shows."""
    found = json.loads((partner.folder / "first.json").read_text())
    partner.site.wait_delivered(found["message_id"])


def shown_answers() -> list[tuple[Block, Block]]:
    """The lines that are followed by an answer, and it."""
    pairs = zip(PAGE.blocks, PAGE.blocks[1:], strict=False)
    return [(lines, shown) for lines, shown in pairs if shown.language == "json"]


def shape(value: Any) -> Any:
    """The names in a document, and the kinds of its values."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value)


def test_there_are_lines_and_answers() -> None:
    assert len(blocks("sh")) >= 9
    assert len(shown_answers()) == 5


@pytest.mark.parametrize("number", range(5))
def test_it_is_answered_as_shown(partner: Partner, number: int) -> None:
    lines, shown = shown_answers()[number]
    answer = json.loads(partner.said[lines.text])
    expected = json.loads(shown.text)
    assert shape(answer) == shape(expected)
    for name in ("type", "title", "detail", "errors", "status", "limits", "formats"):
        assert answer.get(name) == expected.get(name)


def test_nothing_of_the_servers_is_there(partner: Partner) -> None:
    find = "import sys, importlib.util as u; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    ours = ["proxy", "worker", "portal", "main_server", "analytics", "migrations", "infra"]
    theirs = ["yaml", "fastapi", "msgspec", "sqlalchemy", "redis", "uvicorn"]
    assert partner.run("python", "-c", find, *ours, *theirs) == "[]\n"


def test_each_command_that_the_text_names_is_there(partner: Partner) -> None:
    named = {span for span in PAGE.spans if span.startswith("gatepost ")}
    assert len(named) >= 3
    for words in named:
        command = [word for word in shlex.split(words) if not word.isupper()]
        assert "Usage:" in partner.run(*command, "--help")


def test_renewing_asks_the_gateway(partner: Partner) -> None:
    assert "not yet" in partner.said[block("sh", "gatepost cert renew")]


def test_what_was_enrolled_is_who_is_answered(partner: Partner) -> None:
    assert f"/client/{partner.name}" in partner.said[block("sh", "gatepost enrol")]
    assert partner.name in partner.said[block("sh", "gatepost whoami")]
    for name in ("client.key", "client.p12"):
        assert (partner.folder / name).stat().st_mode & 0o077 == 0


def test_a_repeat_is_answered_with_the_first(partner: Partner) -> None:
    first = json.loads((partner.folder / "first.json").read_text())
    assert UUID_TEXT.fullmatch(first["message_id"])


def test_python_sends_and_waits(partner: Partner) -> None:
    program = block("python", "gateway.wait")
    assert partner.run("python", "-c", partner.here(program)) == "delivered\n"


def test_python_sends_many(partner: Partner) -> None:
    """More than the client may send at once, and more than go into a batch."""
    program = block("python", "send_many")
    assert partner.run("python", "-c", partner.here(program)) == "1200\n"


def test_java_sends_and_waits(partner: Partner) -> None:
    (program,) = blocks("java")
    (partner.folder / "SendMessage.java").write_text(program)
    java = str(find_jdk() / "bin" / "java")
    message = (partner.folder / "message.json").read_text()
    said = partner.run(java, "SendMessage.java", partner.site.url("proxy"), stdin=message)
    assert json.loads(said)["status"] == "delivered"


def test_a_request_made_with_openssl_is_issued_and_known(
    site: Site, alone: Alone, tmp_path: Path
) -> None:
    partner = partner_of(site, alone, tmp_path)
    partner.folder.mkdir(parents=True)
    partner.shell(block("bash", "openssl req"))
    out, csr = tmp_path / "issued", str(partner.folder / "client.csr")
    out.mkdir()
    made = partner.operator(
        "cert", "issue", partner.holder, "--csr", csr, "--out", str(out), "--json"
    )
    cert, ca = (Path(file) for file in made["files"])
    cert.rename(partner.folder / "client.pem")
    ca.rename(partner.folder / "ca.pem")
    partner.wait_known()
