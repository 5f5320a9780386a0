"""Keys: made once whoever comes first, used only once they are safe, and opening only their own."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from cryptography.exceptions import InvalidTag
from sqlalchemy import Connection, Engine, select, text

from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.wire.content import decode_content
from gatepost.wire.envelope import Envelope
from infra.dev.engines import Engines, MariaServer
from main_server.keys import repository
from main_server.keys.master import MasterKey, MasterKeys
from main_server.keys.repository import DataKey
from main_server.keys.service import Keyring, open_keyring
from main_server.keys.service_keys import PURPOSES
from main_server.store import schema as migrating
from main_server.store.database import transact
from main_server.store.tables import current_master, data_keys, service_keys
from tests.factories import BODY, NUMBER, ids
from tests.integration.main_server.conftest import (
    KEYS_SCHEMA,
    MASTER,
    Room,
    engine_of,
    open_row,
)


@pytest.fixture(scope="module")
def server(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    """One of our own: these tests begin without any key."""
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        migrator = engine_of(server.url("gatepost_migrate"))
        migrating.upgrade(migrator, KEYS_SCHEMA)
        migrator.dispose()
        yield server


@pytest.fixture
def keyless(server: MariaServer) -> Iterator[Engine]:
    engine = engine_of(server.url("gatepost_main"))
    with engine.begin() as connection:
        for table in (data_keys, service_keys, current_master):
            connection.execute(table.delete())
    yield engine
    engine.dispose()


def load(engine: Engine, master: MasterKey = MASTER) -> Keyring:
    return open_keyring(engine, MasterKeys(lambda: [master]))


def seal(engine: Engine, ring: Keyring, envelopes: list[Envelope]) -> set[int]:
    """The ids of the keys that their rows get."""
    prepared = ring.data_keys(engine, envelopes)

    def work(connection: Connection) -> set[int]:
        held = prepared.hold(connection)
        return {held.seal(envelope, b"x")[0] for envelope in envelopes}

    return transact(engine, work)


def count(engine: Engine, table: str) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text(f"SELECT COUNT(*) FROM gatepost_keys.{table}")) or 0)


def test_the_service_keys_are_made_once_by_many_at_once(keyless: Engine) -> None:
    with ThreadPoolExecutor(8) as pool:
        rings = list(pool.map(lambda _: load(keyless), range(8)))
    assert count(keyless, "service_keys") == len(PURPOSES)
    assert len({ring.sealing_key().kid for ring in rings}) == 1
    assert len({ring.edge_mac_key() for ring in rings}) == 1
    assert len({ring.hash_number("d", "n") for ring in rings}) == 1


def test_they_stay_when_loaded_again(keyless: Engine) -> None:
    assert load(keyless).sealing_key() == load(keyless).sealing_key()


def test_no_key_is_stored_as_it_is(keyless: Engine) -> None:
    ring = load(keyless)
    with keyless.connect() as connection:
        stored = b"".join(connection.execute(select(service_keys.c.wrapped)).scalars())
    assert ring.edge_mac_key() not in stored


def test_another_master_key_opens_none_of_them(keyless: Engine) -> None:
    load(keyless)
    with pytest.raises(KeysUnavailable):
        load(keyless, MasterKey(b"x" * 32))


def test_a_wrapped_key_that_was_moved_or_altered_is_refused(keyless: Engine) -> None:
    load(keyless)
    with keyless.begin() as connection:
        connection.execute(text("UPDATE gatepost_keys.service_keys SET kid = REVERSE(kid)"))
    with pytest.raises(KeysUnavailable):
        load(keyless)


def test_a_clients_day_has_one_key_whoever_comes_first(keyless: Engine) -> None:
    """Many processes, each with a keyring of its own, at the same moment."""
    room = Room(keyless, load(keyless))
    envelopes = [room.envelope() for _ in range(8)]
    rings = [load(keyless) for _ in envelopes]
    barrier = threading.Barrier(len(rings))

    def first_use(n: int) -> int:
        barrier.wait(10)
        return seal(keyless, rings[n], [envelopes[n]]).pop()

    with ThreadPoolExecutor(len(rings)) as pool:
        used = set(pool.map(first_use, range(len(rings))))
    assert len(used) == 1
    assert count(keyless, "data_keys") == 1


def test_many_threads_of_one_process_use_many_keys(keyless: Engine) -> None:
    ring = load(keyless)
    rooms = [Room(keyless, ring) for _ in range(20)]

    def use(_: int) -> set[int]:
        return seal(keyless, ring, [room.envelope() for room in rooms])

    with ThreadPoolExecutor(8) as pool:
        used = list(pool.map(use, range(40)))
    assert count(keyless, "data_keys") == len(rooms)
    assert len(set.union(*used)) == len(rooms)


def test_what_is_remembered_is_forgotten_in_time_and_never_missed(
    keyless: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("main_server.keys.data_keys._KEPT", 3)
    ring = load(keyless)
    rooms = [Room(keyless, ring) for _ in range(10)]

    def use(n: int) -> int:
        ring.refresh()
        return seal(keyless, ring, [rooms[n % 10].envelope()]).pop()

    with ThreadPoolExecutor(8) as pool:
        used = list(pool.map(use, range(200)))
    assert len(set(used)) == len(rooms)
    ring.refresh()
    assert len(ring._data._made) <= 3


def test_a_key_that_was_rolled_back_is_never_used(
    keyless: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction that makes it is lost after the key has been written, once."""
    ring = load(keyless)
    room = Room(keyless, ring)
    real = repository.add_data_keys
    written: list[bytes] = []

    def add_and_fail(connection: Connection, keys: list[DataKey]) -> None:
        real(connection, keys)
        written.extend(key.wrapped for key in keys)
        if len(written) == 1:
            raise RuntimeError("the process loses its connection here")

    monkeypatch.setattr(repository, "add_data_keys", add_and_fail)
    envelope = room.envelope()
    with pytest.raises(RuntimeError):
        room.deliver(envelope)
    assert count(keyless, "data_keys") == 0
    room.deliver(envelope)
    row = room.row(envelope.message_id)
    assert row is not None
    assert decode_content(open_row(keyless, row)).message_body == BODY
    with keyless.connect() as connection:
        assert list(connection.execute(select(data_keys.c.wrapped)).scalars()) == [written[1]]


def test_a_row_opens_with_its_own_key_and_with_nothing_else(room: Room) -> None:
    envelope = room.envelope()
    room.deliver(envelope)
    row = room.row(envelope.message_id)
    assert row is not None
    content = decode_content(open_row(room.engine, row))
    assert (content.sender_number, content.message_body) == (NUMBER, BODY)

    other = Room(room.engine, room.ring)
    theirs = other.envelope()
    other.deliver(theirs)
    their_row = other.row(theirs.message_id)
    assert their_row is not None
    for change in (
        {"message_id": theirs.message_id.bytes},
        {"client_id": other.client_id},
        {"domain": "example.org"},
        {"key_id": their_row["key_id"]},
        {"encrypted_body": their_row["encrypted_body"]},
        {"encrypted_body": bytes(len(row["encrypted_body"]))},
    ):
        with pytest.raises(InvalidTag):
            open_row(room.engine, row | change)
    with pytest.raises(KeysUnavailable):
        open_row(room.engine, row, MasterKey(b"x" * 32))


def test_the_keyring_itself_opens_what_the_description_says(room: Room) -> None:
    envelope = room.envelope()
    room.deliver(envelope)
    row = room.row(envelope.message_id)
    assert row is not None
    fresh = load(room.engine)

    def opened(message_id: UUID, client_id: str, domain: str, key_id: int) -> bytes:
        return fresh.open_row(
            room.engine, message_id, client_id, domain, key_id, row["encrypted_body"]
        )

    right = (envelope.message_id, room.client_id, room.domain, row["key_id"])
    assert opened(*right) == open_row(room.engine, row)
    wrongs: list[tuple[Any, type[Exception]]] = [
        (ids.new(), CannotOpen),
        ("example.com:other", CannotOpen),
        ("example.org", CannotOpen),
        (2**40, KeysUnavailable),
    ]
    for place, (wrong, error) in enumerate(wrongs):
        given: list[Any] = list(right)
        given[place] = wrong
        with pytest.raises(error):
            opened(*given)


def test_a_key_that_is_not_there_is_not_called_destroyed(keyless: Engine) -> None:
    """It may be restored: a message is given up only if its key is known to be destroyed."""
    room = Room(keyless, load(keyless))
    envelope = room.envelope()
    room.deliver(envelope)
    row = room.row(envelope.message_id)
    assert row is not None
    transact(keyless, lambda c: c.execute(data_keys.delete()))
    with pytest.raises(KeysUnavailable, match="Restore"):
        load(keyless).open_row(
            keyless,
            envelope.message_id,
            room.client_id,
            room.domain,
            row["key_id"],
            row["encrypted_body"],
        )
