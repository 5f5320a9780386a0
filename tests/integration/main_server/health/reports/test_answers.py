"""How long answers took: counted by the proxies anyway, said in their vitals, kept hour by hour."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, select

from gatepost.clock import Clock
from gatepost.service.requests import RequestMetrics
from gatepost.wire.vitals import Answered, encode_vitals
from main_server.health.overview.heard import Heard
from main_server.health.reports import answers as kept
from main_server.health.reports.repository import forget_answers, put_answers
from main_server.store.database import Ledger, transact
from main_server.store.tables import answer_times
from tests.factories import vitals_of
from tests.heard import until

HOUR = datetime(2026, 9, 7, 9)


@pytest.fixture
def process() -> str:
    return uuid4().hex[:16]


def rows(engine: Engine, process: str) -> list[Any]:
    table = answer_times.c
    query = select(table.answered, table.accepted, table.within_ms, table.hour)
    query = query.where(table.process == process).order_by(table.hour)
    return transact(engine, lambda c: list(c.execute(query)))


def put(engine: Engine, process: str, *said: Answered) -> None:
    for one in said:
        transact(engine, lambda c, one=one: put_answers(c, HOUR, {process: one}))  # type: ignore[misc]


def test_the_largest_of_what_was_said_stands_whoever_writes_it_last(
    engine: Engine, process: str
) -> None:
    early, late = Answered(5, 4, {"100": 3}), Answered(9, 7, {"100": 8})
    put(engine, process, late, early, late)
    ((answered, accepted, within, hour),) = rows(engine, process)
    assert (answered, accepted, json.loads(within), hour) == (9, 7, {"100": 8}, HOUR)


def test_what_is_old_is_forgotten(engine: Engine, process: str) -> None:
    put(engine, process, Answered(1, 1, {}))
    transact(engine, lambda c: forget_answers(c, HOUR))
    assert rows(engine, process)
    transact(engine, lambda c: forget_answers(c, HOUR + timedelta(hours=1)))
    assert rows(engine, process) == []


async def test_of_who_has_left_the_last_word_is_kept(
    engine: Engine, process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "WRITE_SECONDS", 0.01)
    heard, stop, clock = Heard(), asyncio.Event(), Clock()
    heard.hear(encode_vitals(vitals_of(process=process, answered=Answered(3, 3, {"100": 3}))))
    loop = asyncio.create_task(kept.answers_loop(stop, Ledger(engine, 1), clock, heard))
    await until(lambda: rows(engine, process))
    last = vitals_of(process=process, answered=Answered(4, 4, {"100": 4}), leaving=True)
    heard.hear(encode_vitals(last))
    await until(lambda: rows(engine, process)[-1][0] == 4)
    stop.set()
    await asyncio.wait_for(loop, 10)


def test_it_is_read_from_what_is_counted_anyway() -> None:
    metrics = RequestMetrics(f"p{uuid4().hex}")
    for status, seconds in ((202, 0.004), (202, 0.3), (429, 0.001), (503, 99.0)):
        metrics.observe("/api/v1/messages", status, seconds)
    metrics.observe("/other", 202, 0.001)
    said = metrics.answered("/api/v1/messages")
    assert (said.count, said.accepted) == (4, 2)
    assert (said.within_ms["5"], said.within_ms["100"], said.within_ms["500"]) == (2, 2, 3)
    assert said.within_ms["60000"] == 3
    assert metrics.answered("/nothing") == Answered(0, 0, {})
