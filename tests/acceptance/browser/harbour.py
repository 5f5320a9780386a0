"""A domain with all that pages show: messages that were delivered, that failed and that are being
retried, and its people. Names are made up, and the same in every run: pictures show them."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from cryptography import x509
from sqlalchemy import text

from gatepost.config.settings import load
from gatepost.queue import Queues, connect
from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles
from gatepost.wire.contract import SettleItem, Settlement, SettleRequest, encode_json
from gatepost.wire.people import UserRole
from main_server.people.users import links, service
from main_server.people.users.repository import User
from main_server.people.users.service import NewUser
from main_server.store.database import transact
from tests.acceptance.site import Site, accepted, eventually, post
from tests.integration.main_server.new_people import HASH
from worker.settings import WorkerSettings

DOMAIN = "harbour.example"
CLIENTS = ("tide-gauge", "lock-gates", "pilot-office")
NUMBER = "+491701234567"
BODY = "High water 12:30 at the north quay, 4.2 m. Two tugs are wanted."
ATTEMPTS, NEXT_SECONDS = 3, 3600.0


@dataclass
class Harbour:
    site: Site
    delivered: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    retried: str = ""

    def __post_init__(self) -> None:
        self.keys = {name: self._client(name) for name in CLIENTS}
        for name in CLIENTS:
            self.delivered += self.send(name, 3)
        self.site.wait_delivered(*self.delivered)
        self.failed = [self.delivered.pop(0), self.delivered.pop(-1)]
        for message_id in self.failed:
            self.fail(message_id)
        with self._stopped_workers():
            (self.retried,) = self.send("lock-gates", 1)
            asyncio.run(self._try_in_vain())
        self.admin = self.person("mara", UserRole.ADMIN)
        self.user = self.person("jonas", UserRole.USER, "tide-gauge", "lock-gates")
        self.root = self.person("ada", UserRole.SUPER_ADMIN, domain="gatepost")

    def person(
        self, name: str, role: UserRole, *clients: str, domain: str = DOMAIN, password: bool = True
    ) -> User:
        """With the password that all people of tests have."""
        engine, now = self.site.engine, datetime.now(UTC)
        whole = NewUser(domain, name, role, frozenset(f"{domain}:{one}" for one in clients))
        user = service.create(engine, whole, now, "tester")
        if not password:
            return user
        token = links.make_link(engine, user, now, "tester")
        return links.set_password(engine, token, HASH, now)

    def make_stale(self, user: User) -> None:
        """As if they had shown long ago that it is them."""
        statement = text("UPDATE sessions SET proved_at = NULL WHERE user_id = :user_id")
        transact(self.site.engine, lambda c: c.execute(statement, {"user_id": user.user_id}))

    def serial(self, name: str) -> str:
        """Of the certificate that this client has."""
        leaf = x509.load_pem_x509_certificate(self.keys[name].cert_file.read_bytes())
        return f"{leaf.serial_number:032x}"

    def send(self, name: str, count: int, body: str = BODY) -> list[str]:
        with self.site.calling(self.keys[name]) as client:
            said = {"sender_number": NUMBER, "message_body": body}
            return [accepted(post(client, json=said)) for _ in range(count)]

    def fail(self, message_id: str, reason: str = "refused") -> None:
        """As a worker would say of one that is refused for good."""
        statement = text(
            "UPDATE messages SET status = 'failed', reason = :reason, delivered_at = NULL"
            " WHERE message_id = UNHEX(REPLACE(:id, '-', ''))"
        )
        given = {"id": message_id, "reason": reason}
        transact(self.site.engine, lambda c: c.execute(statement, given))

    def _client(self, name: str) -> TlsFiles:
        return self.site.issue(Identity(DOMAIN, Role.CLIENT, name), days=90).files

    @contextmanager
    def _stopped_workers(self) -> Iterator[None]:
        """So that a test can do what a worker does."""
        pids = self.site.pids("worker")
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    async def _try_in_vain(self) -> None:
        """Each attempt is refused for now, and waits: in the ledger, and in the queue."""
        settings = load(WorkerSettings, self.site.stack.place.config / "worker.yaml")
        async with connect(settings.redis.address()) as redis:
            queue = Queues(redis, settings.redis.queue_name).named(self._queue())
            for attempt in range(1, ATTEMPTS + 1):
                await queue.release_due()
                (delivery,) = await queue.reserve(1, 30)
                assert (str(UUID(bytes=delivery.id)), delivery.attempts) == (self.retried, attempt)
                seconds = NEXT_SECONDS if attempt == ATTEMPTS else 0
                self._settle(attempt, seconds)
                await queue.retry_later([(delivery, seconds)])

    def _settle(self, attempt: int, seconds: float) -> None:
        now = int(datetime.now(UTC).timestamp() * 1000)
        item = SettleItem(
            message_id=UUID(self.retried),
            attempt=attempt,
            outcome=Settlement.RETRY,
            reason="key_unavailable",
            started_at=now,
            ended_at=now + 20,
            due_at=now + int(seconds * 1000),
        )
        body = encode_json(SettleRequest([item]))
        with self.site.calling("worker", "main_server") as worker:
            headers = {"content-type": "application/json"}
            answer = worker.post("/internal/messages/settle", content=body, headers=headers)
        assert answer.status_code == 200, answer.text

    def _queue(self) -> str:
        return str(eventually(lambda: self.site.row(self.retried) or {}, "it is there")["queue"])
