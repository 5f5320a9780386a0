"""Legal holds: who is on one loses nothing, and nobody else keeps anything for it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from gatepost.errors import AnotherNeeded, Invalid, NotFound
from gatepost.wire.domains import DomainSettings
from infra.dev.engines import MariaServer
from main_server.retention import service
from main_server.retention.deleting import delete_part
from main_server.retention.patience import Patience
from main_server.retention.service import Asker, Subject
from main_server.retention.whole import drop_whole
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.domains import service as domains
from main_server.tenants.hold_repository import Hold
from tests.integration.main_server.conftest import Room
from tests.integration.main_server.keys.conftest import wait_for_locks
from tests.integration.main_server.retention.conftest import OLD, TODAY, Old

GATEPOST = Asker("shell:root")


def hold(house: Old, room: Room, asker: Asker = GATEPOST, *, whole: bool = False) -> Hold:
    subject = Subject(room.domain, None if whole else room.client_id)
    now = datetime.now(UTC)
    return service.set_hold(house.engine, asker, subject, "Case 4711", uuid4(), now)


def lift(house: Old, one: Hold, asker: Asker = GATEPOST) -> None:
    named = UUID(bytes=one.hold_id)
    service.lift_hold(house.engine, asker, named, "Case closed", datetime.now(UTC))


def test_a_client_on_hold_keeps_its_rows_and_keys_and_no_one_elses(house: Old) -> None:
    (kept,) = house.sent(house.a, OLD)
    house.sent(house.b, OLD)
    house.attempt(kept)
    hold(house, house.a)
    done = house.run()
    assert (house.left(house.a), house.left(house.b)) == ({OLD: 1}, {})
    assert (house.keys_of(house.a), house.keys_of(house.b)) == ([OLD], [])
    assert OLD in house.partitions(), "it has a row that is held"
    assert house.count("attempts") == 1
    assert done.proof.left == []
    assert done.plan.held == [house.a.client_id]
    house.assert_readable(kept)


def test_a_domain_on_hold_keeps_all_of_it(house: Old) -> None:
    for room in (house.a, house.b):
        house.sent(room, OLD)
    one = hold(house, house.a, whole=True)
    assert house.run().run.row_count == 0
    assert house.foresee().plan.parts == []
    lift(house, one)
    assert house.run().run.row_count == 2


def test_only_the_last_of_several_holds_lets_go(house: Old) -> None:
    house.sent(house.a, OLD)
    first, second = hold(house, house.a), hold(house, house.a)
    lift(house, first)
    assert house.run().run.row_count == 0
    lift(house, second)
    assert house.run().run.row_count == 1


def test_it_is_in_the_audit_log_with_its_reason(house: Old) -> None:
    one = hold(house, house.a)
    lift(house, one)
    ((subject, said),) = house.audited("hold.set")
    assert (subject, said["reason"]) == (house.a.client_id, "Case 4711")
    ((subject, said),) = house.audited("hold.lifted")
    assert (said["reason"], said["was"]) == ("Case closed", "Case 4711")


def test_set_again_after_a_lost_answer_it_is_one_hold(house: Old) -> None:
    subject, number, now = Subject(house.a.domain), uuid4(), datetime.now(UTC)
    for _ in range(2):
        service.set_hold(house.engine, GATEPOST, subject, "Case", number, now)
    assert len(house.audited("hold.set")) == 1


def test_without_a_reason_there_is_none(house: Old) -> None:
    subject, now = Subject(house.a.domain), datetime.now(UTC)
    with pytest.raises(Invalid):
        service.set_hold(house.engine, GATEPOST, subject, " ", uuid4(), now)
    one = hold(house, house.a)
    with pytest.raises(Invalid):
        service.lift_hold(house.engine, GATEPOST, uuid4(), "", now)
    assert one.lifted_at is None


def test_who_looks_after_a_domain_lifts_what_its_own_have_set(house: Old) -> None:
    own, other = Asker("a", house.a.domain), Asker("b", "other.example")
    with pytest.raises(AnotherNeeded):
        lift(house, hold(house, house.a), own)
    theirs = hold(house, house.a, own)
    with pytest.raises(NotFound):
        lift(house, theirs, other)
    lift(house, theirs, own)
    with pytest.raises(NotFound):
        lift(house, theirs, own)


@pytest.mark.parametrize("days", [5, 3651])
def test_days_that_nobody_may_have_are_refused(house: Old, days: int) -> None:
    subject = Subject(house.a.domain, house.a.client_id)
    with pytest.raises(Invalid):
        service.set_days(house.engine, GATEPOST, subject, days, datetime.now(UTC))


def test_a_clients_days_are_set_and_taken_back(house: Old) -> None:
    subject, now = Subject(house.a.domain, house.a.client_id), datetime.now(UTC)
    service.set_days(house.engine, GATEPOST, subject, 90, now)
    service.set_days(house.engine, GATEPOST, subject, 90, now)
    assert service.show(house.engine, subject).days == 90
    service.set_days(house.engine, GATEPOST, subject, None, now)
    shown = service.show(house.engine, subject)
    assert (shown.days, shown.own_days) == (30, None)
    assert len(house.audited("retention.changed")) == 2


def test_what_is_set_after_the_plan_counts(house: Old) -> None:
    """Each transaction that deletes asks again, and so does who has locked the tables."""
    house.sent(house.a, OLD)
    plan = house.foresee().plan
    assert plan.whole
    hold(house, house.a)
    patience = Patience(0)
    names = {whole.name for whole in plan.whole if whole.last_day == OLD}
    assert {drop_whole(house.deleting, name, TODAY, patience) for name in names} == {False}
    assert delete_part(house.deleting, "run", plan.parts[0], TODAY, patience) == 0
    assert house.left(house.a) == {OLD: 1}


def test_a_row_that_came_since_the_plan_stays_if_its_day_is_not_sealed(house: Old) -> None:
    """In the plan that day had keys, and nothing that needed a seal."""
    house.sent(house.a, OLD)
    transact(house.engine, lambda c: c.execute(text("DELETE FROM messages")))
    house.unseal(OLD)
    (part,) = house.foresee().plan.parts
    assert (part.count, part.keys_go) == (0, 1)
    late = house.envelope(OLD)
    house.a.register(late, accepted=True)
    house.claim(house.a, late.message_id)
    assert delete_part(house.deleting, "run", part, TODAY, Patience(0)) == 0
    assert house.left(house.a) == {OLD: 1}
    assert house.count("idempotency") == 1, "its claim is its own"


def test_who_sets_one_waits_for_what_is_being_deleted(
    house: Old, retention_server: MariaServer
) -> None:
    with ThreadPoolExecutor(1) as pool:
        with house.deleting.begin() as deleting:
            holds.share(deleting)
            setting = pool.submit(hold, house, house.a)
            wait_for_locks(retention_server)
            assert not setting.done()
        assert setting.result(10)
    policies = transact(house.engine, holds.read_policies)
    assert policies.is_held(house.a.client_id)


def test_who_changes_a_domains_days_waits_for_what_is_being_deleted(
    house: Old, retention_server: MariaServer
) -> None:
    """Once it is answered nothing goes by the days of before."""
    wanted, now = DomainSettings(retention_days=60), datetime.now(UTC)
    change = partial(domains.change, house.engine, house.a.domain, wanted, now, shared="q")
    with ThreadPoolExecutor(1) as pool:
        with house.deleting.begin() as deleting:
            holds.share(deleting)
            changing = pool.submit(change)
            wait_for_locks(retention_server)
            assert not changing.done()
        assert changing.result(10).retention_days == 60
