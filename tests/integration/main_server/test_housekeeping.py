"""Housekeeping: claims on Idempotency-Keys are forgotten in time, and not before."""

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import Engine, insert, select

from gatepost.clock import Clock, from_ms
from main_server.messages import housekeeping
from main_server.messages.housekeeping import KEY_LIFE, forget_old_keys
from main_server.store.database import transact
from main_server.store.tables import idempotency


def claim(engine: Engine, client_id: str, age: timedelta) -> None:
    row = {
        "client_id": client_id,
        "key_mac": uuid4().bytes * 2,
        "payload_mac": bytes(32),
        "message_id": uuid4().bytes,
        "created_at": from_ms(Clock().now_ms()) - age,
    }
    transact(engine, lambda c: c.execute(insert(idempotency).values(row)))


def test_old_claims_go_and_young_ones_stay(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given claims on both sides of the limit, more than one chunk holds,
    client_id = f"example.com:{uuid4()}"
    monkeypatch.setattr(housekeeping, "CHUNK", 2)
    for _ in range(5):
        claim(engine, client_id, KEY_LIFE + timedelta(minutes=1))
    claim(engine, client_id, KEY_LIFE - timedelta(minutes=1))

    # when they are tidied,
    assert forget_old_keys(engine, Clock()) >= 5

    # I expect the young one to be there still, alone.
    query = select(idempotency.c.message_id).where(idempotency.c.client_id == client_id)
    assert len(transact(engine, lambda c: c.execute(query).all())) == 1
