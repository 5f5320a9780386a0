"""What is said and done about messages that have gone: right answers, and nothing comes back."""

from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import pytest

from gatepost.errors import CannotOpen, NotFound
from gatepost.ids import first_id_at
from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from main_server.keys.destroy import plan
from main_server.messages.failed import service as failed
from main_server.messages.failed.repository import Selection
from main_server.messages.failed.service import Order
from main_server.messages.reading import repository as reading
from main_server.messages.reading.list_repository import Span
from main_server.messages.reading.opening import Opening, open_message
from main_server.messages.reading.scope import Asked
from main_server.messages.reading.search import Query, search
from main_server.messages.repository import find_status
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact
from tests.integration.main_server.conftest import results, settlement
from tests.integration.main_server.retention.conftest import OLD, RECENT, Old

EVE = Viewer("03", "eve", UserRole.SUPER_ADMIN, "gatepost")
EVERYTHING = (bytes(16), first_id_at(2**48 - 1))


@pytest.fixture
def gone(house: Old) -> Envelope:
    """It had failed, so that it could have been redriven; another one is still there."""
    (envelope,) = house.sent(house.a, OLD)
    house.a.force(envelope.message_id, status="failed", reason="refused", delivered_at=None)
    house.sent(house.a, RECENT)
    house.run()
    return envelope


def now() -> datetime:
    return datetime.now(UTC)


def test_a_settlement_that_comes_late_leaves_nothing_for_long(house: Old, gone: Envelope) -> None:
    for outcome in (Settlement.RETRY, Settlement.FAILED):
        house.a.settle(settlement(gone, 2, outcome, due_at=1))
    assert house.left(house.a) == {RECENT: 1}
    assert house.prove().left
    house.run()
    assert (house.count("attempts"), house.prove().left) == (0, [])


def test_a_delivery_that_comes_late_is_told_that_it_has_expired(house: Old, gone: Envelope) -> None:
    assert results(house.a.deliver(gone, send=False)) == [("send_envelope", None)]
    assert results(house.a.deliver(gone)) == [("expired", None)]
    row = house.a.row(gone.message_id)
    assert row
    assert (row["encrypted_body"], row["sender_number_hashed"]) == (None, None)
    house.run()
    assert house.left(house.a) == {RECENT: 1}


def test_a_redrive_passes_it_by(house: Old, gone: Envelope) -> None:
    assert failed.redrive_these(house.engine, EVE, [gone.message_id], now()) == []
    order = Order(Selection(*EVERYTHING), 10)
    with pytest.raises(NotFound):
        failed.start(house.engine, EVE.actor, order, uuid4(), now())


def test_a_redrive_that_was_under_way_comes_to_its_end(house: Old) -> None:
    one, other = house.sent(house.a, OLD, 2)
    for envelope in (one, other):
        house.a.force(envelope.message_id, status="failed", reason="refused", delivered_at=None)
    failed.start(house.engine, EVE.actor, Order(Selection(*EVERYTHING), 1), uuid4(), now())
    assert house.run().run.row_count == 2
    assert failed.take_turn(house.engine, now()) == 0
    assert [one["state"] for one in house.rows_of("redrives")] == ["finished"]


def test_lists_and_pages_have_nothing_of_it(house: Old, gone: Envelope) -> None:
    for status in (None, "failed"):
        query = Query(Span(*EVERYTHING), Asked(client_id=house.a.client_id), status)
        found = search(house.engine, EVE, query).entries
        assert gone.message_id.bytes not in {one.message_id for one in found}
    key = gone.message_id.bytes
    assert transact(house.engine, partial(reading.find_row, message_id=key)) is None
    status_of = partial(find_status, message_id=key, client_id=house.a.client_id)
    assert transact(house.engine, status_of) is None
    wanted = Opening(EVE, gone.message_id, "the partner asks for it")
    with pytest.raises(NotFound):
        open_message(house.engine, house.main_server(), wanted, now())


def test_a_copy_of_the_row_opens_no_more(house: Old) -> None:
    (envelope,) = house.sent(house.a, OLD)
    (copy,) = [row for row in house.all_rows() if row["message_id"] == envelope.message_id.bytes]
    house.assert_readable(envelope)
    house.run()
    with pytest.raises(CannotOpen, match="destroyed"):
        house.main_server().open_row(
            house.engine,
            envelope.message_id,
            copy["client_id"],
            copy["domain"],
            copy["key_id"],
            copy["encrypted_body"],
        )


def test_by_hand_there_is_nothing_left_to_destroy(house: Old, gone: Envelope) -> None:
    planned = plan(house.engine, house.pair(OLD), house.place.now)
    assert planned.destroyed
    assert planned.destroyed.finished_at
    assert (planned.keys, planned.messages) == ([], {})
