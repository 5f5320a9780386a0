"""Domains with clients, messages and people, on a running stack."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
from sqlalchemy import Engine, insert, text

from gatepost.insight.figures import COUNTS
from gatepost.trust.identity import Identity, Role
from gatepost.wire.people import UserRole
from main_server.people.users import links, service
from main_server.people.users.repository import User
from main_server.people.users.service import NewUser
from main_server.store.database import transact
from main_server.store.tables import metadata
from tests.acceptance.site import Site, accepted, eventually, post
from tests.factories import BODY
from tests.integration.main_server.new_people import HASH, PASSWORD

NUMBER = "+491701234567"


@dataclass
class Reader:
    """Somebody who has signed in."""

    portal: httpx.Client
    token: str

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.ask("GET", path, params=query)

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.ask("POST", path, json=body)

    def found(self, path: str = "/messages", **query: Any) -> set[str]:
        """On all pages: others on the stack have messages, too."""
        found: set[str] = set()
        before: str | None = None
        while True:
            more = query if before is None else query | {"before": before}
            answer = self.get(path, **more)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            found |= {one["message_id"] for one in page["messages"]}
            before = page.get("before")
            if before is None:
                return found

    def ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        """People share some routes with administrators by certificate: those say `/admin`."""
        headers = {"authorization": f"Bearer {self.token}"}
        whole = path if path.startswith("/admin/") else f"/api/portal{path}"
        return self.portal.request(method, whole, headers=headers, **given)


@dataclass
class Town:
    """A domain with clients a and b that have each sent a message, one of a's that has failed, and
    three people: of a, of b, and its administrator."""

    site: Site
    portal: httpx.Client
    domain: str = field(default_factory=lambda: f"t{uuid4().hex[:10]}.example")
    body: str = BODY
    people: list[User] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.a, self.failed = self._send("a", 2)
        (self.b,) = self._send("b", 1)
        self.fail(self.failed)
        self.of_a = self.reader(UserRole.USER, "a")
        self.of_b = self.reader(UserRole.USER, "b")
        self.admin = self.reader(UserRole.ADMIN)

    @property
    def messages(self) -> set[str]:
        return {self.a, self.failed, self.b}

    def person(self, role: UserRole, *clients: str, domain: str | None = None) -> User:
        """With the password that all people of tests have."""
        name, now = f"p-{uuid4().hex[:8]}", datetime.now(UTC)
        whole = NewUser(
            domain=domain or self.domain,
            name=name,
            role=role,
            client_ids=frozenset(f"{self.domain}:{one}" for one in clients),
        )
        user = service.create(self.site.engine, whole, now, "tester")
        token = links.make_link(self.site.engine, user, now, "tester")
        self.people.append(links.set_password(self.site.engine, token, HASH, now))
        return self.people[-1]

    def reader(self, role: UserRole, *clients: str, domain: str | None = None) -> Reader:
        user = self.person(role, *clients, domain=domain)
        said = {"domain": user.domain, "name": user.name, "password": PASSWORD}
        said["address"] = user.name
        answer = self.portal.post("/api/portal/session", json=said)
        assert answer.status_code == 200, answer.text
        return Reader(self.portal, answer.json()["access_token"])

    def fail(self, message_id: str) -> None:
        """As a worker would say of one that is refused for good."""
        statement = text(
            "UPDATE messages SET status = 'failed', reason = 'refused', delivered_at = NULL"
            " WHERE message_id = UNHEX(REPLACE(:id, '-', ''))"
        )
        transact(self.site.engine, lambda c: c.execute(statement, {"id": message_id}))

    def audited(self, action: str) -> list[dict[str, Any]]:
        query = text("SELECT details FROM audit_log WHERE action = :a AND domain = :d")
        given = {"a": action, "d": self.domain}
        rows = transact(self.site.engine, lambda c: c.execute(query, given).scalars().all())
        return [json.loads(one) for one in rows]

    def _send(self, name: str, count: int) -> list[str]:
        pair = self.site.issue(Identity(self.domain, Role.CLIENT, name))
        with self.site.calling(pair.files) as client:
            said = {"sender_number": NUMBER, "message_body": self.body}
            sent = [accepted(post(client, json=said)) for _ in range(count)]

        def delivered() -> bool:
            rows = [self.site.row(one) for one in sent]
            return all(row and row["status"] == "delivered" for row in rows)

        eventually(delivered, "they are delivered")
        return sent


def report_on(engine: Engine, domain: str) -> None:
    """As the nightly pipeline leaves it for yesterday: of the domain, and of its client a."""
    day = datetime.now(UTC).date() - timedelta(days=1)
    counts = dict.fromkeys(COUNTS, 7)
    days = [
        {"day": day, "domain": domain, "client_id": client, **counts, "spread": "{}"}
        for client in ("", f"{domain}:a")
    ]
    values = {"value": 1.0, "usual": 2.0, "spread": 1.0, "score": -6.0, "measure": "accepted"}
    client = {"client_id": f"{domain}:a", "words": f"client {domain}:a sent nothing"}
    odd = {"day": day, "domain": domain, **client, **values}
    tables = metadata.tables
    with engine.begin() as connection:
        connection.execute(insert(tables["report_days"]), days)
        connection.execute(insert(tables["report_anomalies"]), [odd])
