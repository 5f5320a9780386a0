"""I2, in any order and at once: whatever is said of one row, nothing of it ever goes back.

Its delivery has one time, its attempts only grow, its generation is raised by a redrive alone, and
each step from one state to the next is an arrow.
"""

import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise, permutations
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from main_server.keys.rows import repository as bodies
from main_server.messages.failed import service
from main_server.store.database import transact
from tests.integration.main_server.conftest import Room, offer, settlement
from tests.integration.main_server.messages.failed.redriving import now
from tests.integration.main_server.messages.test_arrows import SAID
from tests.integration.main_server.town import SUPER

ARROWS = {
    ("queued", "delivered"),
    ("queued", "failed"),
    ("queued", "duplicate"),
    ("queued", "erased"),
    ("failed", "delivered"),
    ("failed", "queued"),
    ("failed", "erased"),
    ("delivered", "erased"),
}
Said = Callable[[Room, Envelope], Any]
Row = dict[str, Any]


def attempted(attempt: int, *, generation: int = 0) -> Said:
    def say(room: Room, one: Envelope) -> None:
        due, raw = one.queued_at + 60_000, offer(one).envelope
        kinds = (Settlement.RETRY, Settlement.FAILED)
        kind, more = kinds[attempt % 2], {"generation": generation, "envelope": raw}
        reason = "key_conflict" if attempt == 5 else "attempts_used"
        room.settle(settlement(one, attempt, kind, due_at=due, reason=reason, **more))

    return say


def redrive(room: Room, one: Envelope) -> None:
    service.redrive_these(room.engine, SUPER, [one.message_id], now())


def discard(room: Room, one: Envelope) -> None:
    service.discard_these(room.engine, SUPER, [one.message_id], "a test", now())


def erase(room: Room, one: Envelope) -> None:
    transact(room.engine, lambda c: bodies.erase(c, [one.message_id.bytes]))


ALL: dict[str, Said] = SAID | {
    "delivered at the first attempt": lambda room, one: room.deliver(one, attempt=1),
    "delivered at the seventh": lambda room, one: room.deliver(one, attempt=7),
    **{f"attempt {n}": attempted(n) for n in (1, 2, 5, 8)},
    **{f"attempt {n} of its second life": attempted(n, generation=1) for n in (1, 4)},
    "redriven": redrive,
    "discarded": discard,
    "erased": erase,
}


ATTEMPTS = ("attempt 1", "attempt 2", "attempt 5", "attempt 8", "delivered at the first attempt")


def check(before: Row | None, after: Row | None) -> None:
    if before is None:
        return
    assert after is not None, "no row vanishes"
    step = (before["status"], after["status"])
    assert step[0] == step[1] or step in ARROWS, step
    assert before["delivered_at"] in (None, after["delivered_at"])
    assert after["attempt_count"] >= before["attempt_count"]
    redriven = step == ("failed", "queued")
    assert after["generation"] == before["generation"] + redriven
    if after["status"] != "erased":
        assert after["encrypted_body"] == before["encrypted_body"]


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(sorted(ALL)), min_size=4, max_size=10), st.booleans())
def test_one_after_the_other(room: Room, said: list[str], registered: bool) -> None:
    envelope = room.envelope()
    if registered:
        room.register(envelope)
    seen = [room.row(envelope.message_id)]
    for one in said:
        ALL[one](room, envelope)
        seen.append(room.row(envelope.message_id))
        check(*seen[-2:])


@pytest.mark.parametrize("order", list(permutations(ATTEMPTS, 2)), ids=" then ".join)
def test_attempts_in_any_order_become_no_fewer(room: Room, order: tuple[str, str]) -> None:
    envelope = room.envelope()
    room.register(envelope)
    seen = [room.row(envelope.message_id)]
    for one in order:
        ALL[one](room, envelope)
        seen.append(room.row(envelope.message_id))
        check(*seen[-2:])


def test_all_at_once(room: Room) -> None:
    """Seen between any two of them, too: by who looks all the time."""
    with ThreadPoolExecutor(6) as pool:
        for number in range(40):
            envelope, names = room.envelope(), random.sample(sorted(ALL), 10)
            if number % 4:
                room.register(envelope)
            work = [pool.submit(ALL[name], room, envelope) for name in names]
            seen = _watch(room, envelope.message_id, work)
            for one in work:
                one.result()
            for before, after in pairwise([*seen, room.row(envelope.message_id)]):
                _check_path(before, after)


def _watch(room: Room, message_id: UUID, work: Sequence[Future[Any]]) -> Sequence[Row | None]:
    seen: list[Row | None] = []
    while not all(one.done() for one in work):
        seen.append(room.row(message_id))
    return seen


def _check_path(before: Row | None, after: Row | None) -> None:
    """As above, but for states that nobody saw on the way."""
    if before is None:
        return
    assert after is not None
    assert before["delivered_at"] in (None, after["delivered_at"])
    assert after["attempt_count"] >= before["attempt_count"]
    assert after["generation"] >= before["generation"]
    if before["status"] in ("erased", "duplicate"):
        assert after["status"] == before["status"]
    if before["status"] == "delivered":
        assert after["status"] in ("delivered", "erased")
