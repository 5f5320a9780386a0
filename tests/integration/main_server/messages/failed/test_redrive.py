"""Redriving and discarding failed messages: what is changed, how fast, by whom, and the audit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError

from gatepost.errors import Invalid, NotFound
from gatepost.queue import Delivery, Queues, connect
from gatepost.wire.contract import DeliveryOffer, Settlement
from infra.dev.engines import MariaServer
from main_server.keys import repository
from main_server.keys.data_keys import day_of
from main_server.keys.lifetimes import MAX_LIFETIME
from main_server.messages.failed import repository as rows
from main_server.messages.failed import service
from main_server.messages.failed.listing import Counted, count_by_reason
from main_server.messages.failed.repository import Redrive, Selection, list_redrives
from main_server.messages.failed.service import Order
from main_server.messages.in_state import Place
from main_server.messages.reading.search import Query
from main_server.messages.reconcile.to_queue import ToQueue
from main_server.people.users import service as users
from main_server.people.users.repository import User
from main_server.people.users.service import Rights
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import Ledger, transact
from tests.integration.main_server.conftest import settlement
from tests.integration.main_server.keys.conftest import wait_for_locks
from tests.integration.main_server.messages.failed.redriving import (
    LAST,
    drain,
    failed,
    look,
    now,
    selection,
    start,
    states,
    told,
)
from tests.integration.main_server.messages.reconcile.conftest import clock_ahead
from tests.integration.main_server.new_people import TESTER, People
from tests.integration.main_server.town import SUPER, Town, span

ENDS: list[Callable[[People, User], object]] = [
    lambda people, user: users.disable(people.engine, user, people.now, TESTER),
    lambda people, user: users.change_rights(
        people.engine, user, Rights(role=UserRole.USER), people.now, TESTER
    ),
]


def test_they_are_counted_by_reason(town: Town) -> None:
    failed(town, 2), failed(town, 1, reason="attempts_used"), town.send("a")
    other = Town(town.engine, town.ring)
    failed(other)
    query = Query(span(), status="failed")
    counted = count_by_reason(town.engine, town.admin(), query)
    assert counted == Counted([("refused", 2), ("attempts_used", 1)], None)


def test_many_are_counted_back_to_a_time(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("main_server.messages.reading.search.ROWS_LOOKED_AT", 4)
    ids = failed(town, 5)
    counted = count_by_reason(town.engine, town.admin(), Query(span(), status="failed"))
    assert counted.since == ids[1].bytes, "four were looked at, however many clients there are"
    assert counted.reasons == [("refused", 4)]


def test_a_turn_that_was_begun_does_nothing_once_it_is_stopped(town: Town) -> None:
    """A turn is put off in one transaction, and taken in the next."""
    ids, redrive = failed(town, 2), start(town)
    begun = look(town, redrive)
    service.stop(
        town.engine, town.admin().actor, town.domain, UUID(bytes=redrive.redrive_id), now()
    )
    assert transact(town.engine, lambda c: service._take_turn(c, begun, now(1))) == 0
    assert states(town, ids) == ["failed", "failed"]
    assert look(town, redrive).state == "stopped"


@pytest.mark.parametrize("longer", [".org", "0", "-x", "z"])
def test_a_domain_whose_name_begins_with_anothers_is_none_of_its(town: Town, longer: str) -> None:
    mine, other = failed(town), Town(town.engine, town.ring, f"{town.domain}{longer}")
    theirs = failed(other)
    assert service.count(town.engine, selection(town)) == 1
    drain(town, start(town))
    assert states(town, [*mine, *theirs]) == ["queued", "failed"]


def test_a_redrive_starts_each_message_anew_and_no_more(town: Town) -> None:
    ids, of_b = failed(town, 3), failed(town, 1, "b")
    delivered = town.send("a")
    town.client("a").force(delivered[0], status="delivered")
    before = town.client("a").row(ids[0])
    redrive = start(town, client_id=f"{town.domain}:a")
    assert redrive.expected == 3
    assert states(town, ids) == ["failed"] * 3, "to start it is not to do it"
    drain(town, redrive)
    assert states(town, ids + of_b + delivered) == [*["queued"] * 3, "failed", "delivered"]
    after = town.client("a").row(ids[0])
    assert before
    assert after
    assert (after["generation"], after["reason"], after["attempt_count"]) == (1, None, 1)
    assert abs(after["expires_at"] - after["due_at"] - MAX_LIFETIME) < timedelta(seconds=1)
    same = ("encrypted_body", "key_id", "created_at", "queued_at", "client_id", "message_id")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert look(town, redrive).state == "finished"


def test_it_is_its_domains_too_where_only_a_client_is_named(town: Town) -> None:
    """Its administrators see it, stop it, and read of it in their audit log (I12)."""
    ids = failed(town, 2)
    meant = Selection(bytes(16), LAST, None, f"{town.domain}:a")
    redrive = service.start(town.engine, "shell:ann", Order(meant, 1), uuid4(), now())
    assert redrive.domain == town.domain
    assert told(town, "redrive.started")
    assert transact(town.engine, lambda c: list_redrives(c, town.domain, 5)) == [redrive]
    drain(town, redrive)
    assert states(town, ids) == ["queued"] * 2


def test_it_waits_where_its_domains_messages_wait_today(town: Town) -> None:
    """So that they are paused with them."""
    ids = failed(town, 2)
    own = f"{town.domain}:messages"
    town.own_queue(own)
    drain(town, start(town))
    rows = [town.client("a").row(one) for one in ids]
    assert {row["queue"] for row in rows if row} == {own}


def test_what_was_said_before_the_redrive_says_nothing_of_what_is_after_it(town: Town) -> None:
    """A worker whose answer was lost settles again; by then the message has another life (I2)."""
    room = town.client("a")
    envelope = room.envelope(message_id=town.ids.new())
    room.register(envelope)
    over = settlement(envelope, 1, Settlement.FAILED, reason="attempts_used")
    later = settlement(envelope, 1, Settlement.RETRY, due_at=2**42)
    room.settle(over)
    drain(town, start(town))
    before = room.row(envelope.message_id)
    room.settle(over, later)
    assert room.row(envelope.message_id) == before
    room.settle(settlement(envelope, 2, Settlement.FAILED, reason="refused", generation=1))
    assert states(town, [envelope.message_id]) == ["failed"]


def test_it_goes_at_the_rate_and_on_after_a_restart(town: Town) -> None:
    """A turn needs nothing but the ledger: who takes the next one doesn't matter."""
    ids = failed(town, 7)
    redrive = start(town, rate=3)
    moment = now(1)
    assert service.take_turn(town.engine, moment) == 3
    assert states(town, ids) == [*["queued"] * 3, *["failed"] * 4], "the oldest first"
    assert service.take_turn(town.engine, moment + timedelta(milliseconds=900)) is None
    assert drain(town, redrive)[-1] == 7
    assert states(town, ids) == ["queued"] * 7


def test_it_can_be_stopped(town: Town) -> None:
    ids = failed(town, 4)
    redrive = start(town, rate=1)
    service.take_turn(town.engine, now(1))
    stopped = service.stop(
        town.engine, town.admin().actor, town.domain, UUID(bytes=redrive.redrive_id), now()
    )
    assert (stopped.state, stopped.redriven) == ("stopped", 1)
    service.take_turn(town.engine, now(60))
    assert states(town, ids).count("queued") == 1
    again = service.stop(
        town.engine, town.admin().actor, town.domain, UUID(bytes=redrive.redrive_id), now()
    )
    assert again == stopped
    assert told(town, "redrive.stopped") == [{"redriven": 1}]


def test_all_of_it_is_in_the_audit_log(town: Town) -> None:
    ids = failed(town, 3)
    redrive = start(town, rate=2)
    drain(town, redrive)
    (begun,) = told(town, "redrive.started")
    assert begun == {"expected": 3, "rate_per_second": 2, "client_id": None, "reason": None}
    redriven = [one for turn in told(town, "message.redriven") for one in turn["message_ids"]]
    assert redriven == [str(one) for one in ids]
    assert told(town, "redrive.finished") == [{"redriven": 3}]
    assert {actor for actor, _, _ in town.audited("message.redriven")} == {town.admin().actor}


def test_what_cannot_or_must_not_be_delivered_is_left(town: Town) -> None:
    bodiless, unreadable, discarded, good = failed(town, 4)
    town.client("a").force(bodiless, encrypted_body=None, key_id=None)
    town.client("a").force(unreadable, reason="unreadable")
    done = service.discard_these(town.engine, town.admin(), [discarded], "asked to", now())
    assert done == [discarded]
    assert town.client("a").status(discarded)[:2] == ("failed", "discarded")
    assert service.count(town.engine, selection(town)) == 1
    everything = [bodiless, unreadable, discarded, good]
    assert service.redrive_these(town.engine, town.admin(), everything, now()) == [good]
    (entry,) = told(town, "message.discarded")
    assert entry == {"reason": "asked to", "message_ids": [str(discarded)]}
    again = service.discard_these(town.engine, town.admin(), [discarded], "asked to", now())
    assert again == [], "it is discarded once"


def test_a_late_success_while_it_waits_for_its_turn_stands(town: Town) -> None:
    ids = failed(town, 2)
    redrive = start(town, rate=1)
    service.take_turn(town.engine, now(1))
    town.client("a").force(ids[1], status="delivered", reason=None)
    drain(town, redrive)
    assert states(town, ids) == ["queued", "delivered"]


@pytest.mark.parametrize("rate", [0, 501, -1])
def test_a_rate_that_is_none_is_refused(town: Town, rate: int) -> None:
    failed(town)
    with pytest.raises(Invalid):
        start(town, rate=rate)


def test_what_matches_nothing_is_not_started(town: Town) -> None:
    with pytest.raises(NotFound):
        start(town)
    assert told(town, "redrive.started") == []


def test_a_call_that_lost_its_answer_may_be_repeated(town: Town) -> None:
    failed(town)
    redrive_id, order = uuid4(), Order(selection(town), 1)
    first = service.start(town.engine, town.admin().actor, order, redrive_id, now())
    assert service.start(town.engine, town.admin().actor, order, redrive_id, now(5)) == first
    assert len(told(town, "redrive.started")) == 1


def test_another_domains_are_as_if_they_were_not_there(town: Town) -> None:
    other = Town(town.engine, town.ring)
    (foreign,) = failed(other)
    theirs = Redrive(**{n: getattr(start(other), n) for n in Redrive.__slots__})
    admin = town.admin()
    for ids in ([foreign], [uuid4()]):
        assert service.redrive_these(town.engine, admin, ids, now()) == []
        assert service.discard_these(town.engine, admin, ids, "why", now()) == []
    assert other.client("a").status(foreign)[0] == "failed"
    for redrive_id in (UUID(bytes=theirs.redrive_id), uuid4()):
        with pytest.raises(NotFound) as refused:
            service.stop(town.engine, admin.actor, town.domain, redrive_id, now())
        assert refused.value.detail == NotFound().detail
    service.stop(town.engine, SUPER.actor, None, UUID(bytes=theirs.redrive_id), now())
    assert look(town, theirs).state == "stopped"


@pytest.mark.parametrize("ids", [[], [uuid4()] * 201])
def test_none_and_too_many_are_refused(town: Town, ids: list[UUID]) -> None:
    with pytest.raises(Invalid):
        service.redrive_these(town.engine, town.admin(), ids, now())


def test_one_whose_turns_fail_lets_the_others_have_theirs(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Town(town.engine, town.ring)
    failed(other), failed(town)
    theirs, mine, real = start(other), start(town), rows.list_redrivable

    def read(connection: Connection, chosen: Selection, *rest: Any) -> list[Place]:
        if chosen.domain == other.domain:
            raise ProgrammingError("it takes too long", None, Exception())
        return real(connection, chosen, *rest)

    monkeypatch.setattr(rows, "list_redrivable", read)
    moment = now(1)
    turns = [suppressed(lambda: service.take_turn(town.engine, moment)) for _ in range(2)]
    assert sorted(turns, key=str) == [1, None]
    assert look(town, mine).redriven == 1
    assert look(town, theirs).redriven == 0
    monkeypatch.undo()
    assert drain(town, theirs, most=100)[-1] == 1, "it is tried again"


def suppressed(work: Callable[[], int | None]) -> int | None:
    with suppress(ProgrammingError):
        return work()
    return None


def test_a_day_whose_key_goes_is_not_redriven(town: Town, maria_server: MariaServer) -> None:
    """Who destroys it counts what waits; what was redriven meanwhile would be erased."""
    (one,) = failed(town)
    pair = (f"{town.domain}:a", day_of(one))
    with town.engine.begin() as destroyer, ThreadPoolExecutor(1) as pool:
        for key in repository.lock_day(destroyer, pair).values():
            repository.delete_data_key(destroyer, key)
        redriving = pool.submit(service.redrive_these, town.engine, town.admin(), [one], now())
        wait_for_locks(maria_server)
        destroyer.commit()
        assert redriving.result() == []
    assert states(town, [one]) == ["failed"]
    assert drain(town, start(town))[-1] == 0


async def test_what_is_redriven_is_delivered(town: Town, redis_url: str) -> None:
    """By way of the reconciler, as a later generation that takes the dead one's place."""
    (message_id,) = failed(town)
    start(town)
    assert service.take_turn(town.engine, now()) == 1
    async with connect(redis_url) as redis:
        queues = Queues(redis, "message_queue")
        step = ToQueue(Ledger(town.engine, 1), town.ring, queues, clock_ahead()).step
        for _ in range(100):
            if (await step())[1]:
                break
        deliveries: list[Delivery] = []  # other tests' messages wait in this ledger, too
        while batch := await queues.named(None).reserve(500, 30):
            deliveries += batch
    mine = [one for one in deliveries if one.id == message_id.bytes]
    assert [(one.generation, one.attempts) for one in mine] == [(1, 2)]
    (answer,) = town.client("a").offer(DeliveryOffer(message_id=message_id, attempt=2))
    assert answer.result == "delivered"
    assert town.client("a").status(message_id) == ("delivered", None, 2)


@pytest.mark.parametrize("end", ENDS, ids=["disabled", "a user now"])
def test_of_who_may_not_go_on_none_goes_on(
    town: Town, end: Callable[[People, User], object]
) -> None:
    """Others' do; and another administrator begins it anew."""
    people = People(town.engine, domain=town.domain)
    user = people.with_password(role=UserRole.ADMIN)
    ids = failed(town, 3)
    viewer = Viewer(str(UUID(bytes=user.user_id)), user.name, user.role, user.domain)
    order = Order(selection(town), 1)
    theirs = service.start(town.engine, viewer.actor, order, uuid4(), now())
    anothers = start(town, rate=1)
    end(people, people.row())
    assert look(town, theirs).state == "stopped"
    assert look(town, theirs).ended_at is not None
    assert look(town, anothers).state == "running"
    drain(town, anothers)
    assert states(town, ids) == ["queued"] * 3
    assert look(town, theirs).redriven == 0
