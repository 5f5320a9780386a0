"""What tests of redrives share: messages that have failed, and the turns that a loop would take."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from gatepost.wire.contract import Settlement
from main_server.messages.failed import service
from main_server.messages.failed.repository import Redrive, Selection, find_redrive
from main_server.messages.failed.service import Order
from main_server.store.database import transact
from tests.integration.main_server.conftest import settlement
from tests.integration.main_server.town import Town

LAST = b"\xff" * 16


def now(ahead: float = 0) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=ahead)


def failed(town: Town, count: int = 1, name: str = "a", reason: str = "refused") -> list[UUID]:
    """As a worker says it."""
    room = town.client(name)
    envelopes = [room.envelope(message_id=town.ids.new()) for _ in range(count)]
    room.register(*envelopes)
    room.settle(*(settlement(one, 1, Settlement.FAILED, reason=reason) for one in envelopes))
    return [one.message_id for one in envelopes]


def selection(town: Town, **given: Any) -> Selection:
    return Selection(bytes(16), LAST, town.domain, **given)


def start(town: Town, rate: int = 10, **given: Any) -> Redrive:
    order = Order(selection(town, **given), rate)
    return service.start(town.engine, town.admin().actor, order, uuid4(), now())


def states(town: Town, ids: list[UUID]) -> list[str]:
    return [town.client("a").status(one)[0] for one in ids]


def drain(town: Town, redrive: Redrive, most: int = 100) -> list[int]:
    """Takes the turns that a loop would take, until this redrive is over."""
    turns: list[int] = []
    for second in range(most):
        service.take_turn(town.engine, now(second * 2 + 1))
        seen = look(town, redrive)
        turns.append(seen.redriven)
        if seen.state != "running":
            return turns
    raise AssertionError(f"it does not end: {turns}")


def look(town: Town, redrive: Redrive) -> Redrive:
    found = transact(town.engine, lambda c: find_redrive(c, redrive.redrive_id, None))
    assert found is not None
    return found


def told(town: Town, action: str) -> list[dict[str, Any]]:
    return [json.loads(details) for _, _, details in town.audited(action)]
