"""Main servers side by side at a redrive: a turn is given once, a message is redriven once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import pytest

from main_server.messages.failed import repository as rows
from main_server.messages.failed import service
from main_server.messages.in_state import Place
from tests.integration.main_server.messages.failed.redriving import (
    failed,
    look,
    now,
    start,
    states,
    told,
)
from tests.integration.main_server.town import Town


def test_a_redrive_whose_turn_is_being_given_is_passed_over(town: Town) -> None:
    """Nobody waits for another main server, and no turn is given twice."""
    failed(town)
    start(town)
    with town.engine.begin() as here, town.engine.begin() as there:
        mine = rows.lock_due(here, now(1))
        assert mine is not None
        assert mine.domain == town.domain
        assert rows.lock_due(there, now(1)) is None


def test_who_is_slow_at_a_turn_is_not_overtaken(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then it is due again: another main server would redrive the same ones beside it."""
    ids = failed(town, 3)
    redrive, reached, goes_on = start(town), Event(), Event()
    real = rows.list_redrivable

    def slow(*given: Any) -> list[Place]:
        reached.set()
        assert goes_on.wait(20)
        return real(*given)

    monkeypatch.setattr(rows, "list_redrivable", slow)
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(service.take_turn, town.engine, now(1))
        try:
            assert reached.wait(20)
            monkeypatch.undo()
            assert service.take_turn(town.engine, now(1) + 2 * service.TRIED_AGAIN) is None
        finally:
            goes_on.set()
        assert turn.result() == 3
    assert look(town, redrive).redriven == 3
    assert states(town, ids) == ["queued"] * 3


def test_two_main_servers_redrive_each_message_once(town: Town) -> None:
    ids = failed(town, 24)
    redrive, seconds = start(town, rate=3), count()

    def turns() -> None:
        for _ in range(200):
            if look(town, redrive).state != "running":
                return
            service.take_turn(town.engine, now(2 * next(seconds)))

    with ThreadPoolExecutor(2) as pool:
        for loop in [pool.submit(turns) for _ in range(2)]:
            loop.result()
    assert (look(town, redrive).state, look(town, redrive).redriven) == ("finished", 24)
    found = [town.client("a").row(one) for one in ids]
    assert {row["generation"] for row in found if row} == {1}
    redriven = [one for turn in told(town, "message.redriven") for one in turn["message_ids"]]
    assert sorted(redriven) == sorted(str(one) for one in ids)
    assert told(town, "redrive.finished") == [{"redriven": 24}]
