"""What `./dev test` does before pytest: lint unless told otherwise, and fetch what tests need."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infra.dev.commands import test as command
from infra.dev.commands.test import is_pure
from infra.dev.paths import ROOT

FETCHED = re.compile(
    r"\b(find_(chromium|java|jdk|driver|engines)\(\)"
    r"|def test_.*\b(engines|redis_server|redis_url|maria_server|database_url)\b)"
)


class Done(list[str]):
    """What was done, in order: lint, fetch, and pytest's arguments."""


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    """Nothing is really done."""
    found = Done()

    def lint(meanwhile: Any) -> bool:
        found.append("lint")
        meanwhile()
        return True

    def run(words: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        if "--markers" in words:
            wrong = "--sideways" in words
            return subprocess.CompletedProcess(words, 4 if wrong else 0, "", "unrecognized")
        found.append(" ".join(words[len(command.PYTEST) :]))
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(command, "lint", lint)
    monkeypatch.setattr(command, "_fetch", lambda: found.append("fetch"))
    monkeypatch.setattr(command, "_versions", lambda: "servers")
    monkeypatch.setattr(subprocess, "run", run)
    return found


def test_all_tests_come_after_lint_and_with_all_they_need(done: Done) -> None:
    assert command.main([]) == 0
    assert done == ["lint", "fetch", ""]


def test_unit_tests_alone_fetch_nothing(done: Done) -> None:
    assert command.main(["tests/unit", "-q"]) == 0
    assert done == ["lint", "tests/unit -q"]


def test_without_lint_the_tests_run_alone(done: Done) -> None:
    assert command.main(["--no-lint", "tests/unit"]) == 0
    assert command.main(["-k", "admission", "--no-lint"]) == 0
    assert done == ["tests/unit", "fetch", "-k admission"]


def test_what_pytest_does_not_know_is_refused_before_anything_is_done(
    done: Done, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--sideways"]) == 4
    assert "unrecognized" in capsys.readouterr().err
    assert done == []


def test_no_unit_test_asks_for_what_is_fetched() -> None:
    files = [one for one in command.PURE.rglob("*.py") if one != Path(__file__)]
    assert [str(one.relative_to(ROOT)) for one in files if FETCHED.search(one.read_text())] == []


@pytest.mark.parametrize(
    ("arguments", "pure"),
    [
        (["tests/unit"], True),
        (["tests/unit/infra/test_boot.py::test_help_needs_no_package", "-q"], True),
        (["-k", "admission", "tests/unit/proxy"], True),
        ([], False),
        (["-k", "admission"], False),
        (["tests/unit", "tests/acceptance/browser"], False),
        (["tests/unit/../integration"], False),
    ],
)
def test_unit_tests_alone_need_nothing_fetched(arguments: list[str], pure: bool) -> None:
    assert is_pure(arguments) is pure
