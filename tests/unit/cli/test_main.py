"""The frame around the commands: help, version, mistakes, and what a start costs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatepost import __version__
from gatepost.cli import identity
from gatepost.cli.failure import EXITS
from tests.unit.cli.conftest import Command


def test_help_explains_the_exit_codes(alone: Command) -> None:
    ran = alone("--help")
    assert ran.code == 0
    for code, what in EXITS.items():
        assert f"{code:<4} {what}" in ran.out


@pytest.mark.parametrize(
    "arguments", [("message",), ("message", "send"), ("message", "show"), ("whoami",), ("problem",)]
)
def test_every_command_has_help(alone: Command, arguments: tuple[str, ...]) -> None:
    ran = alone(*arguments, "-h")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: gatepost {' '.join(arguments)}")


def test_version(alone: Command) -> None:
    assert alone("--version").out == f"gatepost {__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("message",)])
def test_without_a_command_help_is_shown(alone: Command, arguments: tuple[str, ...]) -> None:
    ran = alone(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Commands:" in ran.err


@pytest.mark.parametrize(
    "arguments", [("mesage",), ("message", "sent"), ("whoami", "x"), ("whoami", "--x")]
)
def test_mistakes_lead_to_help(alone: Command, arguments: tuple[str, ...]) -> None:
    ran = alone(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("gatepost: ")
    assert "--help`." in ran.err


def test_a_mistake_is_json_for_scripts(alone: Command) -> None:
    ran = alone("whoami", "--json", "--x")
    assert ran.error["kind"] == "usage"
    assert ran.error["exit_code"] == ran.code == 2


def test_a_fault_shows_its_place_but_not_its_words(gatepost: Command) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the very secret words")

    gatepost.monkeypatch.setattr(identity, "show", fail)
    ran = gatepost("whoami")
    assert ran.code == 1
    assert "RuntimeError at test_main.py:" in ran.err
    assert "secret" not in ran.err
    assert "Traceback" not in ran.err


HEAVY = ("httpx", "rich", "cryptography", "asyncio")


def test_help_loads_nothing_that_only_a_command_needs() -> None:
    program = (
        "import json, sys\n"
        "from gatepost.cli import commands, main\n"
        "commands.entry_points = lambda **_: ()\n"
        "code = main.run(['--help'])\n"
        f"print(json.dumps([code, [m for m in {HEAVY!r} if m in sys.modules]]))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert json.loads(ran.stdout.splitlines()[-1]) == [0, []]


def test_a_shell_can_complete_commands() -> None:
    words = {"_GATEPOST_COMPLETE": "complete_bash", "COMP_WORDS": "gatepost cert re"}
    ran = subprocess.run(
        [Path(sys.executable).with_name("gatepost")],
        env=os.environ | words | {"COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout.split() == ["register", "release", "renew", "revoke"]
