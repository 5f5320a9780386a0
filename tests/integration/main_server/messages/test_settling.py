"""Settle beyond the plain case: what was told with gaps, and what can't be stored."""

import pytest

from gatepost.wire.contract import Settlement
from main_server.messages import repository
from main_server.messages.repository import ATTEMPTS_KEPT
from tests.integration.main_server.conftest import Room, offer, settlement


@pytest.mark.parametrize(
    "lost", [{25}, {21, 22, 23}, set(range(15, 40)), {1, 12, 30, 31, 60}], ids=str
)
def test_reports_that_were_lost_leave_no_more_than_the_rest(room: Room, lost: set[int]) -> None:
    """A retry is told best-effort: while the ledger is away nobody tells it (3.9)."""
    envelope = room.envelope()
    room.register(envelope)
    told = [number for number in range(1, 81) if number not in lost]
    for number in told:
        due = envelope.queued_at
        room.settle(settlement(envelope, number, Settlement.RETRY, due_at=due))
    kept = [number for number, _, _ in room.attempts(envelope.message_id)]
    assert kept == [n for n in told if n <= ATTEMPTS_KEPT or n > 80 - ATTEMPTS_KEPT]


def test_what_can_not_be_stored_does_not_hold_up_its_batch(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a worker would give it back, with all of its batch, for ever (I5)."""
    envelopes = [room.envelope() for _ in range(7)]
    bad = envelopes[3].message_id
    real = repository.insert_ended

    def insert(connection, rows):  # type: ignore[no-untyped-def]
        real(
            connection,
            [dict(r, queue="q" * 500) if r["message_id"] == bad.bytes else r for r in rows],
        )

    monkeypatch.setattr(repository, "insert_ended", insert)
    room.settle(*(settlement(one, 2, envelope=offer(one).envelope) for one in envelopes))
    for one in envelopes:
        if one.message_id != bad:
            assert room.status(one.message_id) == ("failed", "refused", 2)
    assert room.row(bad) is None
