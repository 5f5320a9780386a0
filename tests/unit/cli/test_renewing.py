"""`gatepost cert renew --daemon`: it outlives what goes wrong, and never asks without a pause."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gatepost.cli import holding, renewing
from gatepost.cli.failure import EXIT_OF_KIND
from gatepost.client.errors import GatepostError, Unavailable
from tests.unit.cli.conftest import Command


class Ended(BaseException):
    """Somebody ends the command."""


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it would have slept, five times; then it is ended."""
    found: list[float] = []

    def sleep(seconds: float) -> None:
        found.append(seconds)
        if len(found) == 5:
            raise Ended

    monkeypatch.setattr(renewing, "time", SimpleNamespace(sleep=sleep))
    return found


def answers(monkeypatch: pytest.MonkeyPatch, *given: bool | GatepostError) -> None:
    told: Iterator[bool | GatepostError] = iter(given)

    def ask(*_: Any, **__: Any) -> bool:
        answer = next(told)
        if isinstance(answer, GatepostError):
            raise answer
        return answer

    monkeypatch.setattr(holding, "renew", ask)


def test_what_goes_wrong_is_said_and_tried_again_soon(
    gatepost: Command,
    monkeypatch: pytest.MonkeyPatch,
    pauses: list[float],
    capsys: pytest.CaptureFixture[str],
) -> None:
    away = Unavailable("The gateway is away.")
    answers(monkeypatch, False, away, away, True, False)
    with pytest.raises(Ended):
        gatepost("cert", "renew", "--daemon")
    said = capsys.readouterr()
    assert said.err == "gatepost: The gateway is away.\n" * 2
    assert ": renewed, until " in said.out
    assert said.out.count("\n") == 1, "what is not due is not worth a line"
    assert [seconds <= renewing.AGAIN_SECONDS for seconds in pauses] == [
        False, True, True, False, False,
    ]  # fmt: skip
    assert min(pauses) >= renewing.AGAIN_SECONDS / 2
    assert max(pauses) <= renewing.LOOK_SECONDS


def test_files_that_are_not_there_are_said_at_once(
    gatepost: Command, tmp_path: Path, pauses: list[float]
) -> None:
    """Of a wrong path there is nothing to wait for."""
    missing = str(tmp_path / "nothing.pem")
    ran = gatepost("cert", "renew", "--daemon", "--cert", missing, "--key", missing)
    assert ran.code == EXIT_OF_KIND["certificate"]
    assert "nothing.pem can't be read" in ran.err
    assert pauses == []


CALLS = "main_server: {url: 'https://localhost:1', cert_file: a, key_file: b, ca_file: c}"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("redis: {}", (), "names no certificate"),
        ("main_server: {url: CANARY}", (), "main_server.url"),
        (CALLS, ("--url", "https://localhost:1"), "--config names all"),
    ],
)
def test_settings_that_will_not_do_are_said(
    gatepost: Command, tmp_path: Path, text: str, options: tuple[str, ...], words: str
) -> None:
    file = tmp_path / "service.yaml"
    file.write_text(text)
    ran = gatepost("cert", "renew", "--config", file, *options)
    assert ran.code == EXIT_OF_KIND["usage"]
    assert words in ran.err
    assert "CANARY" not in ran.err
