"""Pauses in the ledger: the first word stays, each is in the audit log, and edge and workers are
told; who isn't concerned goes on."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from gatepost.errors import Invalid
from main_server.messages.edge.repository import list_domains
from main_server.messages.queues.naming import list_known, meant
from main_server.store.database import transact
from main_server.store.tables import audit_log
from main_server.tenants.pauses import service
from main_server.tenants.pauses.repository import EVERYWHERE, What
from main_server.tenants.pauses.service import Order
from tests.integration.main_server.town import Town


@pytest.fixture
def ending(town: Town) -> Iterator[Town]:
    yield town
    for one in service.list_all(town.engine):
        service.resume(town.engine, What(one.what), {one.name: None}, order("that was all"))


def order(reason: str, actor: str = "shell:ann") -> Order:
    return Order(actor, reason, datetime.now(UTC))


def audited(town: Town, subject: str) -> list[tuple[str, str, str | None, Any]]:
    c = audit_log.c
    query = select(c.actor, c.action, c.domain, c.details).where(c.subject == subject)
    rows = transact(town.engine, lambda one: one.execute(query.order_by(c.seq)).all())
    return [(row[0], row[1], row[2], json.loads(row[3])) for row in rows]


def shut(town: Town) -> dict[str, bool]:
    return {one.name: one.intake_paused for one in transact(town.engine, list_domains)}


def test_the_first_word_stays_and_each_is_written_down_once(ending: Town) -> None:
    town, name = ending, f"{ending.domain}:messages"
    ((first, is_new),) = service.pause(
        town.engine, What.QUEUE, {name: town.domain}, order(" a move ")
    )
    assert (first.reason, first.actor, is_new) == ("a move", "shell:ann", True)
    again = service.pause(
        town.engine, What.QUEUE, {name: town.domain}, order("another", "shell:bob")
    )
    assert again == [(first, False)]
    assert name in service.list_paused_queues(town.engine)
    assert service.resume(town.engine, What.QUEUE, {name: town.domain}, order("")) == [name]
    assert service.resume(town.engine, What.QUEUE, {name: town.domain}, order("")) == []
    assert name not in service.list_paused_queues(town.engine)
    assert audited(town, name) == [
        ("shell:ann", "queue.paused", town.domain, {"reason": "a move"}),
        ("shell:ann", "queue.resumed", town.domain, {}),
    ]


def test_intake_of_one_domain_or_of_all(ending: Town) -> None:
    town = ending
    service.pause(town.engine, What.INTAKE, {town.domain: town.domain}, order("a leak"))
    told = shut(town)
    assert told.pop(town.domain)
    assert set(told.values()) == {False}
    service.pause(town.engine, What.INTAKE, {EVERYWHERE: None}, order("a move"))
    assert set(shut(town).values()) == {True}
    service.resume(town.engine, What.INTAKE, {EVERYWHERE: None}, order(""))
    assert shut(town)[town.domain], "what was paused by itself stays so"


@pytest.mark.parametrize("reason", ["", "  ", "call +49 170 1234567", "x" * 501])
def test_why_is_said_and_holds_no_number(ending: Town, reason: str) -> None:
    town = ending
    with pytest.raises(Invalid):
        service.pause(town.engine, What.INTAKE, {town.domain: town.domain}, order(reason))
    assert not shut(town)[town.domain]


def test_a_paused_queue_that_nobody_has_any_more_is_found_again(ending: Town) -> None:
    service.pause(ending.engine, What.QUEUE, {"once": None}, order("a move"))
    known = list_known(ending.engine, "message_queue")
    assert [one.domains for one in meant(known, "once")] == [()]
