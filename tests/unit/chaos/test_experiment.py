"""What goes wrong around a run ends none: it is named, and what there is of the run is judged."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pymysql
import pytest

from infra.dev.steps import Failure
from tests.chaos import experiment
from tests.chaos.experiment import Clients, wait_at_rest
from tests.chaos.journal import Journal


class Process:
    """Ends with that code, or not at all."""

    def __init__(self, code: int | None) -> None:
        self._code = code

    def wait(self, seconds: float) -> int:
        if self._code is None:
            raise subprocess.TimeoutExpired("a client", seconds)
        return self._code


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    found = Journal(tmp_path)
    yield found
    found.close()


@pytest.fixture
def site(tmp_path: Path, journal: Journal) -> Any:
    (tmp_path / "client.log").write_text("Traceback\nMemoryError: no room")
    place = SimpleNamespace(log=lambda _name: tmp_path / "client.log")
    return SimpleNamespace(journal=journal, place=place)


def undone(folder: Path) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]
    return [(line["target"], line["why"]) for line in lines if line["type"] == "undone"]


def test_a_client_that_fails_or_never_ends_is_named(
    tmp_path: Path, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = {"client_001": 0, "client_002": 3, "client_003": None}
    monkeypatch.setattr(Clients, "_start", lambda _self, name, _given: Process(ends.get(name, 0)))
    Clients(site, {}, poison=0.0).wait(0.5)
    assert undone(tmp_path) == [
        ("client_002", "exit code 3: Traceback\nMemoryError: no room"),
        ("client_003", "it does not end"),
    ]


def test_what_does_not_get_ready_and_what_cannot_be_asked_end_no_run(
    tmp_path: Path, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_ready(name: str) -> None:
        if name == "worker-1":
            raise Failure("worker-1 does not get ready (redis: no)")

    def sql(_statement: str) -> Any:
        raise pymysql.OperationalError(2003, "can't connect")

    site.wait_ready, site.sql = wait_ready, sql
    monkeypatch.setattr(experiment, "REST_SECONDS", 0.1)
    assert wait_at_rest(site) >= 0.1
    assert undone(tmp_path) == [("worker-1", "worker-1 does not get ready (redis: no)")]
    assert "OperationalError" in (tmp_path / "notes.jsonl").read_text()
