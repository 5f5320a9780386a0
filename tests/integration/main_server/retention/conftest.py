"""A ledger for retention, with a partition for each day, empty for each test; and messages of days
that are long past in it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, insert, select, text

from gatepost.wire.envelope import Envelope
from infra.dev.engines import Engines, MariaServer
from main_server.messages.partitions import partition_name, reorganize
from main_server.retention import prove as proving
from main_server.retention import run as running
from main_server.retention.days import DAY
from main_server.retention.partition_repository import list_partitions
from main_server.retention.prove import Proof
from main_server.retention.run import Done, Foreseen, Place
from main_server.retention.settings import Limits
from main_server.settings import Keys
from main_server.store import schema as migrating
from main_server.store.database import transact
from main_server.store.rights import Account, grant_retaining
from main_server.store.tables import (
    attempts,
    clients,
    domains,
    idempotency,
    lake_manifest,
    metadata,
)
from tests.integration.main_server.conftest import KEYS_SCHEMA, Room, engine_of
from tests.integration.main_server.keys.conftest import House, empty

TODAY = datetime.now(UTC).date()
OLD, OLDER, OLDEST = (TODAY - timedelta(days=days) for days in (31, 32, 33))
"""The last day that is due by the usual 30 days, and those before."""
RECENT = TODAY - timedelta(days=30)
"""The first one that isn't."""
FIRST, LAST = OLDEST, RECENT


@pytest.fixture(scope="session")
def retention_server(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MariaServer]:
    with MariaServer(engines, tmp_path_factory.mktemp("retention")) as server:
        migrator = engine_of(server.url("gatepost_migrate"))
        migrating.upgrade(migrator, KEYS_SCHEMA)
        grant_retaining(migrator, Account("gatepost_retention", "127.0.0.1"), KEYS_SCHEMA)
        migrator.dispose()
        yield server


@pytest.fixture
def ledger(retention_server: MariaServer) -> Iterator[Engine]:
    """As the main server sees it."""
    engine = engine_of(retention_server.url("gatepost_main"))
    empty(engine)
    migrator = engine_of(retention_server.url("gatepost_migrate"))
    with migrator.begin() as connection:
        _divide(connection)
    migrator.dispose()
    yield engine
    engine.dispose()


def _divide(connection: Connection) -> None:
    """A partition for each of the old days, if another test has dropped one."""
    wanted = [FIRST + DAY * n for n in range((LAST - FIRST).days + 1)]
    names = {partition_name(day) for day in wanted}
    for table in ("messages", "attempts"):
        found = {one.name for one in list_partitions(connection) if one.table == table}
        if not names <= found:
            _, _, parts = reorganize(table, wanted).partition(" INTO ")
            by_id = f"ALTER TABLE {table} PARTITION BY RANGE COLUMNS (message_id) {parts}"
            connection.execute(text(by_id))


@pytest.fixture
def house(
    ledger: Engine,
    retention_server: MariaServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator["Old"]:
    monkeypatch.setattr("main_server.retention.whole.sync", lambda: None)  # slow, and no test's
    house = Old(ledger, tmp_path, engine_of(retention_server.url("gatepost_retention")))
    for room in (house.a, house.b):
        house.know(room)
    house.seal(*(FIRST + DAY * n for n in range((TODAY - FIRST).days)))
    yield house
    house.deleting.dispose()


@dataclass
class Old(House):
    """Two clients of one domain, a and b, and retention with rights of its own."""

    deleting: Engine
    a: Room = field(init=False)
    b: Room = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.a, self.b = self.room, self.other_room()
        self.place = Place(
            engine=self.deleting,
            masters=self.masters(),
            keys=Keys(master_key_file=self.file, backup_file=self.folder / "keys.backup"),
            limits=Limits(few_messages=1_000, wait_minutes=0),
            actor="shell:test",
            now=datetime.now(UTC).replace(tzinfo=None),
        )

    def know(self, room: Room) -> None:
        """A row for the client, and one for its domain."""
        now = datetime.now(UTC).replace(tzinfo=None)
        domain = {"domain": room.domain, "max_undelivered": 1000, "created_at": now}
        client = {"client_id": room.client_id, "domain": room.domain, "name": room.name}
        limits = {"rate_per_second": 100, "burst": 100, "created_at": now}

        def work(connection: Connection) -> None:
            connection.execute(insert(domains).prefix_with("IGNORE").values(domain))
            connection.execute(insert(clients).values(client | limits))

        transact(self.engine, work)

    def sent(self, room: Room, day: date, count: int = 1) -> list[Envelope]:
        """Delivered on that day."""
        self.room = room
        return self.delivered(count, day)

    def attempt(self, envelope: Envelope, number: int = 2) -> None:
        moment = datetime.now(UTC).replace(tzinfo=None)
        values = {
            "message_id": envelope.message_id.bytes,
            "attempt": number,
            "started_at": moment,
            "ended_at": moment,
            "outcome": "retry",
        }
        transact(self.engine, lambda c: c.execute(insert(attempts).values(values)))

    def claim(self, room: Room, message_id: UUID) -> None:
        values = {
            "client_id": room.client_id,
            "key_mac": message_id.bytes * 2,
            "payload_mac": bytes(32),
            "message_id": message_id.bytes,
            "created_at": datetime.now(UTC).replace(tzinfo=None),
        }
        transact(self.engine, lambda c: c.execute(insert(idempotency).values(values)))

    def seal(self, *days: date, sealed: bool = True) -> None:
        """As the pipeline does when it has published a day for the last time."""
        now = datetime.now(UTC).replace(tzinfo=None)
        rows = [
            {
                "day": day,
                "run_id": "20260101T020000-00000000",
                "schema_version": 1,
                "row_count": 0,
                "id_xor": 0,
                "first_published_at": now,
                "published_at": now,
                "sealed_at": now if sealed and day < TODAY - 5 * DAY else None,
                "late_changes": 0,
            }
            for day in days
        ]
        transact(self.engine, lambda c: c.execute(insert(lake_manifest), rows))

    def unseal(self, day: date) -> None:
        statement = lake_manifest.update().where(lake_manifest.c.day == day)
        transact(self.engine, lambda c: c.execute(statement.values(sealed_at=None)))

    def run(self, confirmed: str | None = None, **given: Any) -> Done:
        return running.run(self.placed(**given), confirmed)

    def foresee(self, **given: Any) -> Foreseen:
        return running.foresee(self.placed(**given))

    def placed(self, **given: Any) -> Place:
        limits = self.place.limits.model_copy(update=given.pop("limits", {}))
        values = {name: getattr(self.place, name) for name in Place.__slots__}
        return Place(**(values | {"limits": limits} | given))

    def prove(self) -> Proof:
        return proving.prove(self.deleting, self.masters(), self.place.keys, TODAY)

    def left(self, room: Room) -> dict[date, int]:
        """How many messages it has, by day."""
        rows = [row for row in self.all_rows() if row["client_id"] == room.client_id]
        days = [datetime.fromtimestamp(_ms(row["message_id"]), UTC).date() for row in rows]
        return {day: days.count(day) for day in sorted(set(days))}

    def keys_of(self, room: Room) -> list[date]:
        found = self.data_keys()
        return sorted(key.day for key in found if key.client_id == room.client_id)

    def count(self, table: str) -> int:
        found = transact(self.engine, lambda c: c.scalar(text(f"SELECT COUNT(*) FROM {table}")))
        return int(found or 0)

    def rows_of(self, name: str) -> list[dict[str, Any]]:
        query = select(metadata.tables[name])
        return transact(self.engine, lambda c: [dict(r) for r in c.execute(query).mappings()])

    def partitions(self, table: str = "messages") -> list[date]:
        found = transact(self.engine, list_partitions)
        return [one.last_day for one in found if one.table == table and one.last_day <= LAST]

    def audited(self, action: str) -> list[tuple[str, dict[str, Any]]]:
        query = text("SELECT subject, details FROM audit_log WHERE action = :a ORDER BY seq")
        rows = transact(self.engine, lambda c: c.execute(query, {"a": action}).all())
        return [(row[0], json.loads(row[1])) for row in rows]


def _ms(message_id: bytes) -> float:
    return int.from_bytes(message_id[:6], "big") / 1000
