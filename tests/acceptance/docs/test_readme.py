"""What the README tells a reader to do works on a real stack, as it is written there."""

import json
import re
import subprocess
import sys

import pytest

from infra.dev.paths import ROOT
from infra.dev.stack import Stack
from tests.unit.docs.documents import Document

README = Document(ROOT / "README.md")
SECONDS = 60


@pytest.fixture
def here(stack: Stack) -> dict[str, str]:
    """What stands in the README, and what it is on this stack."""
    return {
        "https://127.0.0.1:8001": stack.status()["proxy"],
        "var/venv/bin/": f"{sys.prefix}/bin/",
        "var/": f"{stack.place.folder}/",
    }


def run(command: list[str], stack: Stack) -> str:
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=stack.place.folder.parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_it_is_here(text: str, here: dict[str, str]) -> str:
    written = "|".join(re.escape(name) for name in here)
    return re.sub(written, lambda match: here[match[0]], text)


def line_with(words: str) -> str:
    (line,) = [line for line in README.commands() if words in line]
    return line


def test_the_line_for_curl_is_answered_as_shown(stack: Stack, here: dict[str, str]) -> None:
    (shown,) = [block.text for block in README.blocks if block.language == "json"]
    answer = json.loads(run(["sh", "-c", as_it_is_here(line_with("| curl"), here)], stack))
    assert list(answer) == list(json.loads(shown))
    assert answer["status"] == "queued"


def test_the_line_for_the_command_sends_a_message_and_waits(
    stack: Stack, here: dict[str, str]
) -> None:
    told = run(["sh", "-c", as_it_is_here(line_with("message send --wait"), here)], stack)
    assert [line.split()[0] for line in told.splitlines()] == ["queued", "delivered"]


def test_the_lines_of_python_send_a_message_and_wait(stack: Stack, here: dict[str, str]) -> None:
    (program,) = [block.text for block in README.blocks if block.language == "python"]
    assert run([sys.executable, "-c", as_it_is_here(program, here)], stack) == "delivered\n"
