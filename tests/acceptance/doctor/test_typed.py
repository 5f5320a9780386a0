"""What operators are told to type, by the pages for them and by alerts, works as it is printed.

In a checkout, in the order of the pages. On a machine with systemd the drill types it.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from gatepost.cli.main import run
from gatepost.config.settings import ENVIRONMENT_NAMES
from infra.dev.stack import Stack
from tests.acceptance.site import Site, accepted, post
from tests.typed import read_lines

SHELL = re.compile(r"\||^curl ")
UUID_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Type = Callable[[str], tuple[int, str]]


@pytest.fixture
def type_(
    patient: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Type:
    """In the folder of the checkout; our own commands in this process, which is quicker."""
    folder = patient.place.folder.parent
    monkeypatch.chdir(folder)
    for name in ENVIRONMENT_NAMES:
        monkeypatch.delenv(name, raising=False)

    def type_(line: str) -> tuple[int, str]:
        if SHELL.search(line):
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        program, *words = shlex.split(line, comments=True)
        assert program == "gatepost", line
        code, said = run(words), capsys.readouterr()
        return code, said.out + said.err

    return type_


class Reader:
    """What a reader has of their own, by what it is called in the table."""

    def __init__(self, site: Site, type_: Type, folder: Path) -> None:
        self.proxy = f"proxy-{uuid4().hex[:8]}"
        self.said = ""
        """Last."""
        self._site, self._type, self._folder = site, type_, folder

    def meant(self, name: str) -> str:
        ports = {service: url[0] for service, url in self._site.status["metrics"].items()}
        fixed = {
            "a proxy that is lost": self.proxy,
            "host": "127.0.0.1",
            "today": f"{datetime.now(UTC):%Y-%m-%d}",
            **{service: url.removesuffix("/metrics") for service, url in ports.items()},
        }
        return fixed.get(name) or self._new(name)

    def _new(self, name: str) -> str:
        fresh = uuid4().hex[:8]
        if name == "a client":
            client = f"{fresh}.example.com"
            out = self._folder / fresh
            assert self._type(f"gatepost cert issue {client} --out {out}")[0] == 0
            return client
        if name == "hold":
            return str(UUID_TEXT.findall(self.said)[0])
        return {
            "a new file": str(self._folder / fresh),
            "the backup of the keys": str(self._folder / fresh),
            "a new folder": str(self._folder / fresh),
            "a new domain": f"{fresh}.example",
            "somebody new ": f"{fresh} ",
        }[name]


def test_each_line_works_as_it_is_printed(site: Site, type_: Type, tmp_path: Path) -> None:
    assert sys.stdin is None or not sys.stdin.isatty()
    with site.calling() as client:
        site.wait_delivered(accepted(post(client)))
    reader = Reader(site, type_, tmp_path)
    for line in read_lines():
        if line.here is True:
            reader.said = line.type_with(type_, reader.meant)
    site.wait_ready()
