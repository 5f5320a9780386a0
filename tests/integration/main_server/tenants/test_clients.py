"""Clients: a new one has the limits that the documents promise."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import Engine

from gatepost.errors import NameTaken
from gatepost.trust.identity import Identity, Role
from main_server.ca.repository import add_domain
from main_server.store.database import transact
from main_server.tenants.clients.service import Change, change, ensure

NOW = datetime(2026, 11, 18, tzinfo=UTC).replace(tzinfo=None)


@pytest.fixture(autouse=True)
def domain(engine: Engine) -> None:
    transact(engine, lambda c: add_domain(c, "example.com", None, NOW))


def test_a_new_client_may_send_100_a_second_and_save_up_1000(engine: Engine) -> None:
    identity = Identity("example.com", Role.CLIENT, f"new-{uuid4().hex[:8]}")
    client = ensure(engine, identity, NOW)
    assert (client.rate_per_second, client.burst) == (100, 1_000)
    assert ensure(engine, identity, NOW) == client


def test_one_that_is_disabled_is_not_made_anew(engine: Engine) -> None:
    identity = Identity("example.com", Role.CLIENT, f"old-{uuid4().hex[:8]}")
    ensure(engine, identity, NOW)
    change(engine, identity.client_id, Change(disabled=True), NOW)
    with pytest.raises(NameTaken):
        ensure(engine, identity, NOW)
