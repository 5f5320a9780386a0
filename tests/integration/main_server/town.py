"""A domain that no other test knows, with two clients and people who look at it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Engine, text

from gatepost.clock import Clock, from_ms, to_ms
from gatepost.ids import MessageIds, first_id_at
from gatepost.trust.identity import Identity, Role
from main_server.ca import repository as certificates
from main_server.keys.service import Keyring
from main_server.messages.reading.list_repository import Span
from main_server.messages.reading.scope import Asked
from main_server.messages.reading.search import Page, Query, search, with_numbers
from main_server.people.users.viewer import UserRole, Viewer
from main_server.store.database import transact
from main_server.store.tables import domains
from main_server.tenants.clients.service import create
from tests.integration.main_server.conftest import Room

NUMBER, OTHER_NUMBER = "+491701234567", "+491709999999"


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

    def own_queue(self, name: str) -> None:
        """From now on its messages wait apart from others'."""
        change = domains.update().where(domains.c.domain == self.domain).values(queue=name)
        transact(self.engine, lambda c: c.execute(change))

    def user(self, *names: str) -> Viewer:
        clients = frozenset(f"{self.domain}:{name}" for name in names)
        return Viewer("01", "ann", UserRole.USER, self.domain, clients)

    def admin(self) -> Viewer:
        return Viewer("02", "bob", UserRole.ADMIN, self.domain)

    def find(self, viewer: Viewer, **given: Any) -> Page:
        asked = Asked(given.pop("domain", None), given.pop("client", None))
        query = Query(given.pop("span", span()), asked, **given)
        return with_numbers(self.engine, self.ring, search(self.engine, viewer, query))

    def found(self, viewer: Viewer, **given: Any) -> list[UUID]:
        return [UUID(bytes=one.entry.message_id) for one in self.find(viewer, **given).messages]

    def audited(self, action: str) -> list[tuple[str, str, str]]:
        query = text(
            "SELECT actor, subject, details FROM audit_log WHERE action = :a AND domain = :d"
            " ORDER BY seq"
        )
        rows = transact(
            self.engine, lambda c: c.execute(query, {"a": action, "d": self.domain}).all()
        )
        return [(row[0], row[1], row[2]) for row in rows]


def span(first: bytes = bytes(16), end: bytes | None = None) -> Span:
    return Span(first, end or first_id_at(Clock().now_ms() + 60_000))


SUPER = Viewer("03", "eve", UserRole.SUPER_ADMIN, "gatepost")


def found_town(engine: Engine, ring: Keyring) -> Town:
    made = Town(engine, ring)
    now = datetime.now(UTC)
    moment = from_ms(to_ms(now))
    transact(engine, lambda c: certificates.add_domain(c, made.domain, None, moment))
    for name in ("a", "b"):
        create(engine, Identity(made.domain, Role.CLIENT, name), 100, 100, now)
    return made
