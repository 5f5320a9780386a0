"""People for tests: each of a name that no other test knows."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Engine, text

from gatepost.wire.people import UserRole
from main_server.ca import repository as domains
from main_server.people.sessions import repository as session_rows
from main_server.people.sessions import service as sessions
from main_server.people.sessions.repository import Session
from main_server.people.sessions.service import Opened, Try
from main_server.people.users import links, repository, service
from main_server.people.users.passwords import hash_password
from main_server.people.users.repository import User
from main_server.people.users.service import NewUser
from main_server.store.database import transact

PASSWORD = "a long walk in the fog"
HASH = hash_password(PASSWORD)
DOMAIN = "example.com"
TESTER = "tester"


@dataclass
class People:
    """Somebody, the time as it is for them, and where they are."""

    engine: Engine
    name: str = field(default_factory=lambda: f"p-{uuid4().hex[:10]}")
    address: str = field(default_factory=lambda: uuid4().hex)
    domain: str = DOMAIN
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        moment = self.now.replace(tzinfo=None)
        transact(self.engine, lambda c: domains.add_domain(c, self.domain, None, moment))

    def create(self, **given: Any) -> User:
        whole = {"domain": self.domain, "name": self.name, "role": UserRole.USER} | given
        return service.create(self.engine, NewUser(**whole), self.now, TESTER)

    def with_password(self, **given: Any) -> User:
        user = self.create(**given)
        token = links.make_link(self.engine, user, self.now, TESTER)
        return links.set_password(self.engine, token, HASH, self.now)

    def try_(
        self, name: str | None = None, address: str | None = None, known: str | None = None
    ) -> Try:
        who, where = name or self.name, address or self.address
        return sessions.begin_try(self.engine, self.domain, who, where, self.now, known)

    def sign_in(self) -> Opened:
        return sessions.open_session(self.engine, self.try_(), self.now)

    def refresh(self, token: str | None) -> Opened:
        assert token is not None
        return sessions.refresh(self.engine, token, self.now)

    def later(self, **given: float) -> None:
        self.now += timedelta(**given)

    def row(self) -> User:
        found = transact(self.engine, lambda c: repository.find(c, self.domain, self.name))
        assert found is not None
        return found

    def session(self, opened: Opened) -> tuple[Session, User]:
        session_id = opened.session_id.bytes
        found = transact(self.engine, lambda c: session_rows.find(c, session_id))
        assert found is not None
        return found

    def audited(self) -> list[str]:
        """The actions on this person, in order."""
        query = text("SELECT action FROM audit_log WHERE subject = :s ORDER BY seq")
        subject = f"gatepost://{self.domain}/user/{self.name}"
        return list(transact(self.engine, lambda c: c.execute(query, {"s": subject}).scalars()))
