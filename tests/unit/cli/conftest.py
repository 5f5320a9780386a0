"""The command, run in this process against a gateway of the test's own."""

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gatepost.cli.main import run
from tests.unit.client.gateway import Authority, Gateway, Pair


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def pairs(authority: Authority) -> tuple[Pair, Pair]:
    return authority.issue("server", server=True), authority.issue("client")


@pytest.fixture
def gateway(authority: Authority, pairs: tuple[Pair, Pair]) -> Iterator[Gateway]:
    with Gateway(authority, pairs[0]).running() as gateway:
        yield gateway


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def results(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


class Terminal(io.TextIOWrapper):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


class Command:
    """`gatepost`, in a folder of its own and with an environment that names the gateway."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
    ) -> None:
        self.monkeypatch = monkeypatch
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: object, stdin: str = "", person: bool = False) -> Ran:
        wrapper = Terminal if person else io.TextIOWrapper
        self.monkeypatch.setattr(sys, "stdin", wrapper(io.BytesIO(stdin.encode())))
        code = run([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)


@pytest.fixture
def alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """The command where nothing says which gateway to use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("URL", "CA", "CERT", "KEY"):
        monkeypatch.delenv(f"GATEPOST_{name}", raising=False)
    return Command(monkeypatch, capsys, tmp_path)


@pytest.fixture
def gatepost(alone: Command, gateway: Gateway, pairs: tuple[Pair, Pair]) -> Command:
    settings = {
        "URL": gateway.url,
        "CA": gateway.authority.ca,
        "CERT": pairs[1].cert,
        "KEY": pairs[1].key,
    }
    for name, value in settings.items():
        alone.monkeypatch.setenv(f"GATEPOST_{name}", str(value))
    return alone
