"""Checking the chain in the background: by turns, across restarts, and with a clear answer."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import Connection, Engine

from main_server.audit import check_repository as repository
from main_server.audit import checking as module
from main_server.audit.check_repository import Check
from main_server.audit.checking import latest, start, take_turn
from main_server.audit.list_repository import Filters
from main_server.audit.search import Query, search
from main_server.audit.verify import verify
from tests.integration.main_server.audit.logs import run_sql, write

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
ACTOR = "gatepost://gatepost/user/eve"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 4)


def run_on(log: Engine, turns: int = 100) -> Check:
    now = NOW
    for _ in range(turns):
        now += timedelta(seconds=1)
        if take_turn(log, now) is None:
            break
    found = latest(log)
    assert found is not None
    return found


def test_a_whole_chain_is_said_to_be_so(log: Engine) -> None:
    for number in range(10):
        write(log, number)
    begun = start(log, ACTOR, NOW)
    assert (begun.state, begun.seq, begun.head_seq) == ("running", 0, 11)
    found = run_on(log)
    assert (found.state, found.seq, found.fault) == ("whole", 11, None)
    assert found.up_to == NOW.replace(tzinfo=None), "the time of the last entry, its own start"
    assert found.ended_at is not None
    (entry,) = search(log, Query(filters=Filters(action="audit.check_ended"))).links
    assert entry.actor == ACTOR
    assert '"state":"whole"' in entry.details
    assert verify(log).fault is None, "its own entries hang on the chain like all others"


def test_a_turn_reads_one_piece_and_the_next_goes_on_there(log: Engine) -> None:
    for number in range(9):
        write(log, number)
    start(log, ACTOR, NOW)
    turn = take_turn(log, NOW)
    assert turn is not None
    assert (turn.state, turn.seq) == ("running", 4)
    assert take_turn(log, NOW) is None, "between two turns others have theirs"
    turn = take_turn(log, NOW + module.PAUSE)
    assert turn is not None
    assert (turn.state, turn.seq) == ("running", 8)


def test_while_one_runs_there_is_no_second_one(log: Engine) -> None:
    write(log, 1)
    one = start(log, ACTOR, NOW)
    assert start(log, "somebody else", NOW) == one
    run_on(log)
    assert start(log, ACTOR, NOW).check_id != one.check_id


def test_of_those_who_start_at_once_all_have_the_same_one(
    log: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(log, 1)
    find, together = repository.find_running, Barrier(3)

    def find_slowly(connection: Connection) -> Check | None:
        found = find(connection)
        time.sleep(0.2)
        return found

    def begin(_: int) -> bytes:
        together.wait(20)
        return start(log, ACTOR, NOW).check_id

    monkeypatch.setattr(repository, "find_running", find_slowly)
    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(begin, range(3)))) == 1


@pytest.mark.parametrize(
    ("statement", "entries", "fault"),
    [
        ("UPDATE audit_log SET actor = 'someone' WHERE seq = 7", 6, "entry 7 was changed"),
        ("DELETE FROM audit_log WHERE seq = 5", 4, "entry 5 is missing"),
        ("DELETE FROM audit_log WHERE seq > 8", 8, "the entries end at 8, the head says 11"),
        ("DELETE FROM audit_log", 0, "the entries end at 0, the head says 11"),
        ("UPDATE audit_log SET previous = hash WHERE seq = 4", 3, "entry 4 does not hang"),
    ],
)
def test_what_is_broken_is_said_where(
    log: Engine, statement: str, entries: int, fault: str
) -> None:
    for number in range(10):
        write(log, number)
    start(log, ACTOR, NOW)
    run_sql(log, statement)
    found = run_on(log)
    assert (found.state, found.seq) == ("broken", entries)
    assert found.fault is not None
    assert fault in found.fault


def test_an_old_entry_that_is_changed_behind_a_check_is_found_by_the_next(log: Engine) -> None:
    for number in range(10):
        write(log, number)
    start(log, ACTOR, NOW)
    assert run_on(log).state == "whole"
    run_sql(log, "UPDATE audit_log SET subject = 'thing 99' WHERE seq = 2")
    start(log, ACTOR, NOW)
    assert run_on(log).fault == "entry 2 was changed"


def test_what_is_appended_meanwhile_is_for_the_next_one(log: Engine) -> None:
    for number in range(10):
        write(log, number)
    start(log, ACTOR, NOW)
    take_turn(log, NOW)
    for number in range(10):
        write(log, number)
    found = run_on(log)
    assert (found.state, found.seq) == ("whole", 11)
