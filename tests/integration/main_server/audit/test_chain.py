"""The audit log in a ledger: in one line, and whoever changes it is seen."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine

from gatepost.cli.main import run
from main_server.audit.chain import Entry, parse_head
from main_server.audit.repository import append
from main_server.audit.verify import verify
from tests.integration.main_server.audit.logs import run_sql, write


def test_entries_of_many_at_once_are_one_chain(log: Engine) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: write(log, number), range(60)))
    verdict = verify(log)
    assert (verdict.entries, verdict.fault) == (60, None)


def test_what_was_not_committed_is_not_in_it(log: Engine) -> None:
    with log.connect() as connection:
        append(connection, Entry("test", "thing.done", "x"), datetime.now(UTC))
        connection.rollback()
    write(log, 1)
    assert verify(log).entries == 1


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE audit_log SET actor = 'someone' WHERE seq = 3", "entry 3 was changed"),
        ("UPDATE audit_log SET details = '{}' WHERE seq = 3", "entry 3 was changed"),
        ("UPDATE audit_log SET at = at + INTERVAL 1 SECOND WHERE seq = 3", "entry 3 was changed"),
        ("DELETE FROM audit_log WHERE seq = 3", "entry 3 is missing"),
        ("DELETE FROM audit_log WHERE seq = 5", "the entries end at 4"),
        ("UPDATE audit_head SET seq = 4", "the entries end at 4"),
        ("UPDATE audit_log SET previous = hash WHERE seq = 4", "entry 4 does not hang"),
    ],
)
def test_whatever_is_done_to_it_is_seen(log: Engine, statement: str, fault: str) -> None:
    for number in range(5):
        write(log, number)
    assert verify(log).fault is None
    run_sql(log, statement)
    found = verify(log).fault
    assert found is not None
    assert fault in found


def test_a_head_that_was_noted_shows_what_was_cut_off(log: Engine) -> None:
    heads = [write(log, number) for number in range(4)]
    assert verify(log, heads[1]).fault is None
    run_sql(log, "DELETE FROM audit_log WHERE seq > 2")
    last = heads[1].hash.hex()
    run_sql(log, f"UPDATE audit_head SET seq = 2, hash = UNHEX('{last}')")
    assert verify(log).fault is None, "cut together with the head, the rest is a whole chain"
    found = verify(log, heads[3]).fault
    assert found is not None
    assert "noted" in found


@pytest.fixture
def command(tmp_path: Path, database_url: str) -> Path:
    """The settings by which the command finds the ledger."""
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"database": {"url": database_url}}))
    return config


def test_the_command_says_whether_it_is_whole(
    log: Engine, command: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        write(log, number)
    assert run(["audit", "verify", "--config", str(command), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["whole"], parse_head(said["head"]).seq) == (True, 3)
    assert run(["audit", "verify", "--config", str(command), "--head", said["head"]]) == 0
    assert run(["audit", "show", "--config", str(command), "--limit", "1"]) == 0
    assert "thing 2" in capsys.readouterr().out
    run_sql(log, "UPDATE audit_log SET subject = 'thing 9' WHERE seq = 2")
    assert run(["audit", "verify", "--config", str(command)]) == 3
    assert "entry 2 was changed" in capsys.readouterr().err
    assert run(["audit", "verify", "--config", str(command), "--head", "x"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [("--domain", "é"), ("--action", "thing"), ("--from", "2026-02-01", "--to", "2026-01-01")],
)
def test_what_can_not_be_looked_for_is_said(
    log: Engine, command: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert run(["audit", "show", "--config", str(command), *arguments]) == 3
    said = capsys.readouterr().err
    assert "fault" not in said
    assert "Traceback" not in said
