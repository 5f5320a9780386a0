"""A ledger for tests that change keys: a server that no other test uses, empty for each of them."""

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, insert, select, text

from gatepost.clock import Clock
from gatepost.wire.content import decode_content
from gatepost.wire.contract import Result
from gatepost.wire.envelope import Envelope
from infra.dev.engines import Engines, MariaServer
from main_server.keys import repository
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.keys.repository import DataKey, Pair, ServiceKey
from main_server.keys.service import Keyring, open_keyring
from main_server.messages.partitions import ensure_partitions
from main_server.store import schema as migrating
from main_server.store.database import transact
from main_server.store.tables import KEYS, audit_head, messages, metadata
from main_server.tenants import hold_repository as holds
from main_server.tenants.hold_repository import Hold
from tests.factories import BODY, ids
from tests.integration.main_server.conftest import KEYS_SCHEMA, Room, engine_of

LONG_AGO = datetime.now(UTC).date() - timedelta(days=40)


@pytest.fixture(scope="session")
def keys_server(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MariaServer]:
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        migrator = engine_of(server.url("gatepost_migrate"))
        migrating.upgrade(migrator, KEYS_SCHEMA)
        migrator.dispose()
        yield server


@pytest.fixture
def ledger(keys_server: MariaServer) -> Iterator[Engine]:
    engine = engine_of(keys_server.url("gatepost_main"))
    ensure_partitions(engine, datetime.now(UTC).date())
    empty(engine)
    yield engine
    engine.dispose()


def empty(engine: Engine, *, keys_only: bool = False) -> None:
    """But for the audit log, which begins anew."""
    with engine.begin() as connection:
        for table in metadata.tables.values():
            if table.schema == KEYS or not keys_only:
                connection.execute(table.delete())
        if not keys_only:
            connection.execute(insert(audit_head).values(one=1, seq=0, hash=bytes(32)))


@pytest.fixture
def house(ledger: Engine, tmp_path: Path) -> "House":
    return House(ledger, tmp_path)


@dataclass
class House:
    """A ledger with its master key file, and main servers in it."""

    engine: Engine
    folder: Path
    room: Room = field(init=False)

    def __post_init__(self) -> None:
        self.file = self.folder / "master.key"
        self.file.write_bytes(secrets.token_bytes(32))
        self.file.chmod(0o400)
        self.room = Room(self.engine, self.main_server())

    def masters(self) -> MasterKeys:
        return MasterKeys(partial(read_master_keys, self.file))

    def main_server(self) -> Keyring:
        """The keyring of another one."""
        return open_keyring(self.engine, self.masters())

    def other_room(self) -> Room:
        """Another client, served by another main server."""
        return Room(self.engine, self.main_server())

    def delivered(self, count: int = 1, day: date | None = None) -> list[Envelope]:
        """Messages that came and were delivered on that day."""
        sent = [self.envelope(day) for _ in range(count)]
        results = self.room_on(day).deliver(*sent)
        assert {one.result for one in results} == {Result.DELIVERED}
        return sent

    def envelope(self, day: date | None = None) -> Envelope:
        return self.room.envelope(message_id=id_of(day)) if day else self.room.envelope()

    def room_on(self, day: date | None) -> Room:
        """The same client on the noon of a day."""
        clock = Clock()
        if day is not None:
            clock.correct(noon_of(day), took_ms=0)
        return replace(self.room, clock=clock)

    def pair(self, day: date | None = None) -> Pair:
        return self.room.client_id, day or datetime.now(UTC).date()

    def data_keys(self) -> list[DataKey]:
        return transact(self.engine, repository.list_data_keys)

    def service_keys(self, purpose: str = "sealing") -> list[ServiceKey]:
        found = transact(self.engine, repository.list_service_keys)
        return [key for key in found if key.purpose == purpose]

    def read(self, message_id: UUID, ring: Keyring | None = None) -> str:
        """The body of a row, by a main server that has never seen it."""
        row = self.room.row(message_id)
        assert row is not None
        content = (ring or self.main_server()).open_row(
            self.engine,
            message_id,
            row["client_id"],
            row["domain"],
            row["key_id"],
            row["encrypted_body"],
        )
        return decode_content(content).message_body

    def assert_readable(self, *envelopes: Envelope) -> None:
        ring = self.main_server()
        assert {self.read(one.message_id, ring) for one in envelopes} <= {BODY}

    def hold(self, *, whole: bool = False) -> Hold:
        """On the client, or on the whole of its domain."""
        whose = self.room.domain, None if whole else self.room.client_id
        now = datetime.now(UTC).replace(tzinfo=None)
        one = Hold(uuid4().bytes, *whose, "Case 4711", "shell:test", True, now)
        transact(self.engine, lambda connection: holds.add_hold(connection, one))
        return one

    def statuses(self) -> dict[str, int]:
        query = text("SELECT status, COUNT(*) FROM messages GROUP BY status")
        return transact(self.engine, lambda c: {row[0]: row[1] for row in c.execute(query)})

    def all_rows(self) -> list[dict[str, Any]]:
        return transact(
            self.engine, lambda c: [dict(row) for row in c.execute(select(messages)).mappings()]
        )


def id_of(day: date) -> UUID:
    """Noon of that day, and not the same twice."""
    return UUID(bytes=noon_of(day).to_bytes(6, "big") + ids.new().bytes[6:])


def noon_of(day: date) -> int:
    return int(datetime.combine(day, time(12), tzinfo=UTC).timestamp() * 1000)


@contextmanager
def meanwhile(*actions: Callable[[int], None]) -> Iterator[Callable[[], None]]:
    """Runs each again and again in a thread of its own, until the block has ended.

    What is yielded waits until each has been done at least once from now on.
    """
    stop, counts = Event(), [0] * len(actions)

    def again(index: int) -> None:
        while not stop.is_set():
            actions[index](counts[index])
            counts[index] += 1

    def wait() -> None:
        goals = [count + 2 for count in counts]
        while any(count < goal for count, goal in zip(counts, goals, strict=True)):
            failed = [one.exception(0) for one in running if one.done()]
            if failed:
                raise AssertionError("a thread has ended") from failed[0]
            stop.wait(0.002)

    with ThreadPoolExecutor(len(actions)) as pool:
        running: list[Future[None]] = [pool.submit(again, n) for n in range(len(actions))]
        try:
            wait()
            yield wait
            wait()
        finally:
            stop.set()
    for one in running:
        one.result()


def wait_for_locks(server: MariaServer, count: int = 1) -> None:
    """Until so many wait for a row that somebody else has."""
    engine = engine_of(server.url("root", "mysql"))
    query = text("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
    deadline = monotonic() + 15
    with engine.connect() as connection:
        while (connection.scalar(query) or 0) < count:
            connection.rollback()
            assert monotonic() < deadline, "nobody waits"
            sleep(0.15)  # the server looks again only if it was not asked for 0.1 s
    engine.dispose()


class Cut(Exception):
    """The process is killed here."""


class Cuts:
    """Lets a function be called so many times, then cuts: before it has done its work, or after."""

    def __init__(self, real: Callable[..., Any], calls: int, *, after: bool) -> None:
        self._real = real
        self._left = calls
        self._after = after

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._left -= 1
        if self._left < 0 and not self._after:
            raise Cut
        result = self._real(*args, **kwargs)
        if self._left < 0:
            raise Cut
        return result
