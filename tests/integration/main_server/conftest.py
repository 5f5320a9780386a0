"""A migrated ledger on a real MariaDB, and a room in it for each test: a client of its own."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr
from sqlalchemy import Engine, select, text

from gatepost.clock import Clock
from gatepost.ids import id_ms
from gatepost.wire.contract import (
    DeliverResult,
    DeliveryOffer,
    RegisterResult,
    SettleItem,
    Settlement,
)
from gatepost.wire.envelope import Envelope, encode
from infra.dev.engines import MariaServer
from main_server.keys.master import MasterKey, MasterKeys
from main_server.keys.service import Keyring, open_keyring
from main_server.messages.deliver import deliver
from main_server.messages.partitions import ensure_partitions
from main_server.messages.register import register
from main_server.messages.settle import settle
from main_server.settings import Database
from main_server.store import schema as migrating
from main_server.store.database import create_ledger_engine, transact
from main_server.store.tables import attempts, data_keys, messages
from tests import factories
from tests.integration.main_server.new_people import People
from tests.integration.main_server.office import Office, opened_office

MASTER = MasterKey(b"m" * 32)
KEYS_SCHEMA = "gatepost_keys"
_numbers = count()


def engine_of(url: str) -> Engine:
    return create_ledger_engine(Database(url=SecretStr(url), keys_schema=KEYS_SCHEMA))


@pytest.fixture(scope="session")
def migrated(migration_url: str) -> None:
    engine = engine_of(migration_url)
    migrating.upgrade(engine, KEYS_SCHEMA)
    engine.dispose()


@pytest.fixture(scope="session")
def engine(migrated: None, database_url: str) -> Iterator[Engine]:
    """The ledger, as the main server sees it."""
    engine = engine_of(database_url)
    ensure_partitions(engine, datetime.now(UTC).date())
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def ring(engine: Engine) -> Keyring:
    return open_keyring(engine, MasterKeys(lambda: [MASTER]))


@pytest.fixture
def room(engine: Engine, ring: Keyring) -> "Room":
    return Room(engine, ring)


@pytest.fixture
async def office(engine: Engine, ring: Keyring) -> AsyncIterator[Office]:
    async with opened_office(engine, ring) as office:
        yield office


@pytest.fixture
def people(engine: Engine) -> People:
    return People(engine)


@pytest.fixture
def own_server(maria_server: MariaServer) -> MariaServer:
    """The session's server, to look into its files."""
    return maria_server


@dataclass
class Room:
    """A client that no other test knows, and what it does in the ledger."""

    engine: Engine
    ring: Keyring
    domain: str = "example.com"
    name: str = field(default_factory=lambda: f"room-{next(_numbers)}-{uuid4().hex[:8]}")
    clock: Clock = field(default_factory=Clock)

    @property
    def client_id(self) -> str:
        return f"{self.domain}:{self.name}"

    def envelope(self, content: bytes | None = None, **given: Any) -> Envelope:
        whole = {"client_id": self.client_id, "domain": self.domain} | given
        return factories.envelope(self.ring, content, **whole)

    def deliver(
        self, *envelopes: Envelope, attempt: int = 1, send: bool = True
    ) -> list[DeliverResult]:
        return self.offer(*(offer(one, attempt, send=send) for one in envelopes))

    def offer(self, *offers: DeliveryOffer) -> list[DeliverResult]:
        return deliver(self.engine, self.ring, self.clock, offers)

    def register(self, *envelopes: Envelope, **how: bool) -> list[RegisterResult]:
        raw = [msgspec.Raw(encode(one)) for one in envelopes]
        return register(self.engine, self.ring, self.clock, raw, **how)

    def settle(self, *items: SettleItem) -> None:
        settle(self.engine, self.ring, items)

    def row(self, message_id: UUID) -> dict[str, Any] | None:
        query = select(messages).where(messages.c.message_id == message_id.bytes)
        found = transact(self.engine, lambda c: c.execute(query).mappings().all())
        assert len(found) < 2
        return dict(found[0]) if found else None

    def status(self, message_id: UUID) -> tuple[str, str | None, int]:
        row = self.row(message_id)
        assert row is not None
        return row["status"], row["reason"], row["attempt_count"]

    def attempts(self, message_id: UUID) -> list[tuple[int, str, str | None]]:
        query = (
            select(attempts.c.attempt, attempts.c.outcome, attempts.c.reason)
            .where(attempts.c.message_id == message_id.bytes)
            .order_by(attempts.c.attempt)
        )
        return transact(self.engine, lambda c: [(r[0], r[1], r[2]) for r in c.execute(query)])

    def count_rows(self) -> int:
        query = text("SELECT COUNT(*) FROM messages WHERE client_id = :client")
        found = transact(self.engine, lambda c: c.scalar(query, {"client": self.client_id}))
        return int(found or 0)

    def force(self, message_id: UUID, **values: Any) -> None:
        """Puts a row into a state, whatever the arrows say."""
        statement = messages.update().where(messages.c.message_id == message_id.bytes)
        transact(self.engine, lambda c: c.execute(statement.values(**values)))


def offer(envelope: Envelope, attempt: int = 1, *, send: bool = True) -> DeliveryOffer:
    raw = msgspec.Raw(encode(envelope)) if send else msgspec.Raw()
    return DeliveryOffer(message_id=envelope.message_id, attempt=attempt, envelope=raw)


def settlement(
    of: Envelope, attempt: int = 1, outcome: Settlement = Settlement.FAILED, **given: Any
) -> SettleItem:
    now = id_ms(of.message_id)
    whole: dict[str, Any] = {
        "message_id": of.message_id,
        "attempt": attempt,
        "outcome": outcome,
        "reason": "refused",
        "started_at": now,
        "ended_at": now,
    }
    return SettleItem(**(whole | given))


def results(answers: Sequence[Any]) -> list[tuple[str, str | None]]:
    return [(answer.result.value, answer.reason) for answer in answers]


def open_row(engine: Engine, row: dict[str, Any], master: MasterKey = MASTER) -> bytes:
    """Written from the description, not with the code that seals: what a restore would have to do.

    Raises cryptography's InvalidTag or KeysUnavailable if any of it doesn't fit.
    """
    query = select(data_keys.c.client_id, data_keys.c.day, data_keys.c.wrapped).where(
        data_keys.c.key_id == row["key_id"]
    )
    client_id, day, wrapped = transact(engine, lambda c: c.execute(query).one())
    purpose = f"gatepost data key {row['key_id']} {client_id} {day}".encode()
    data_key = master.unwrap(wrapped, purpose)
    message_id: bytes = row["message_id"]
    key = HKDF(SHA256(), 32, salt=None, info=b"gatepost row key v1" + message_id).derive(data_key)
    bound = b"\0".join(
        (message_id, row["client_id"].encode(), row["domain"].encode(), str(row["key_id"]).encode())
    )
    body: bytes = row["encrypted_body"]
    if body[:1] != b"\x01":
        raise InvalidTag
    return AESGCM(key).decrypt(body[1:13], body[13:], bound)
