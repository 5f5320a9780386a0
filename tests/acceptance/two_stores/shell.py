"""What operators type, on the machine of a rig's services."""

import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

from gatepost.cli.main import run as command
from tests.acceptance.two_stores.rig import Rig


@dataclass(frozen=True)
class Ran:
    code: int
    said: list[dict[str, Any]]
    complaint: str


def run(rig: Rig, *words: str, service: str = "main_server") -> Ran:
    """What a command says, line by line."""
    config = ["--config", str(rig.place.config / f"{service}.yaml")]
    with redirect_stdout(StringIO()) as said, redirect_stderr(StringIO()) as complaint:
        code = command([*words, *config, "--json"])
    lines = said.getvalue().splitlines()
    return Ran(code, [json.loads(one) for one in lines], complaint.getvalue())


def done(rig: Rig, *words: str, service: str = "main_server") -> list[dict[str, Any]]:
    ran = run(rig, *words, service=service)
    assert ran.code == 0, ran.complaint
    return ran.said
