"""The installed `gatepost` command and a stack to use it on."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.dev.stack import Stack
from tests.unit.client.gateway import Authority, Pair

SECONDS = 60


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


class Command:
    """`gatepost`, run where the stack's own `var/status.json` tells it all it needs."""

    def __init__(self, stack: Stack) -> None:
        self.program = str(Path(sys.executable).with_name("gatepost"))
        self.folder = stack.place.folder.parent
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GATEPOST_")
        } | {"XDG_CONFIG_HOME": str(self.folder / "no-configuration")}

    def __call__(self, *arguments: object, stdin: str = "") -> Ran:
        ran = subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.program, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def gatepost(stack: Stack) -> Command:
    return Command(stack)


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Pair]:
    """A CA that the stack doesn't know, and a client's certificate of it."""
    authority = Authority(tmp_path_factory.mktemp("foreign"), "a foreign CA")
    return authority, authority.issue("client_001")
