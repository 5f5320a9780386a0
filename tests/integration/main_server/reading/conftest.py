"""A domain that no other test knows, with two clients and people who look at it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.identity import Identity, Role
from gatepost.ids import MessageIds
from main_server.ca import repository as certificates
from main_server.clients.service import create
from main_server.database import transact
from main_server.keys.service import Keyring
from main_server.users.viewer import UserRole, Viewer
from tests.integration.main_server.conftest import Room


@dataclass
class Town:
    """A domain with its clients a and b."""

    engine: Engine
    ring: Keyring
    domain: str = field(default_factory=lambda: f"town-{uuid4().hex[:12]}.example")
    ids: MessageIds = field(default_factory=lambda: MessageIds(Clock()))

    def client(self, name: str) -> Room:
        return Room(self.engine, self.ring, self.domain, name)

    def send(self, name: str = "a", count: int = 1, **given: Any) -> list[UUID]:
        """Oldest first."""
        room = self.client(name)
        ids = [self.ids.new() for _ in range(count)]
        room.register(*(room.envelope(message_id=one, **given) for one in ids))
        return ids

    def user(self, *names: str) -> Viewer:
        clients = frozenset(f"{self.domain}:{name}" for name in names)
        return Viewer("01", "ann", UserRole.USER, self.domain, clients)

    def admin(self) -> Viewer:
        return Viewer("02", "bob", UserRole.ADMIN, self.domain)


SUPER = Viewer("03", "eve", UserRole.SUPER_ADMIN, "gatepost")


@pytest.fixture
def town(engine: Engine, ring: Keyring) -> Town:
    made = Town(engine, ring)
    now = datetime.now(UTC)
    moment = from_ms(to_ms(now))
    transact(engine, lambda c: certificates.add_domain(c, made.domain, None, moment))
    for name in ("a", "b"):
        create(engine, Identity(made.domain, Role.CLIENT, name), 100, 100, now)
    return made
