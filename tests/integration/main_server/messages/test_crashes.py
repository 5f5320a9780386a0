"""What somebody has heard of a row is there after a crash of the ledger, too (I1, I2).

The server here leaves its log in memory while it is told to: as any server does for the instant
between a commit that others see and its disk.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, Engine, create_engine, text

from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope
from infra.dev.engines import Engines, MariaServer
from main_server.keys.master import MasterKeys
from main_server.keys.service import open_keyring
from main_server.messages.partitions import ensure_partitions
from main_server.messages.statuses import find_status
from main_server.settings import Database
from main_server.store import schema as migrating
from main_server.store.database import create_ledger_engine
from tests.integration.main_server.conftest import (
    KEYS_SCHEMA,
    MASTER,
    Room,
    offer,
    settlement,
)

KEY = {"key_mac": b"k" * 32, "payload_mac": b"p" * 32}
ENDLESS = "--innodb-flush-log-at-timeout=2700"


@pytest.fixture(scope="module")
def crashing(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    folder = tmp_path_factory.mktemp("mariadb")
    with MariaServer(engines, folder, options=[ENDLESS]) as server:
        migrations = _engine(server, "gatepost_migrate")
        migrating.upgrade(migrations, KEYS_SCHEMA)
        migrations.dispose()
        yield server


@pytest.fixture
def shaky(crashing: MariaServer) -> Iterator[Room]:
    engine = _engine(crashing, "gatepost_main")
    ensure_partitions(engine, datetime.now(UTC).date())
    room = Room(engine, open_keyring(engine, MasterKeys(lambda: [MASTER])))
    room.register(room.envelope())  # its data key is there
    yield room
    engine.dispose()


def _engine(server: MariaServer, user: str) -> Engine:
    url = SecretStr(server.url(user))
    return create_ledger_engine(Database(url=url, keys_schema=KEYS_SCHEMA))


@contextmanager
def not_on_disk_yet(server: MariaServer) -> Iterator[None]:
    """What is committed within this shows, and a crash takes it back."""
    with create_engine(server.url("root", "mysql")).connect() as root:
        _flush(root, at_commit=0)
        yield
        _flush(root, at_commit=1)


def _flush(root: Connection, *, at_commit: int) -> None:
    root.execute(text(f"SET GLOBAL innodb_flush_log_at_trx_commit = {at_commit}"))


def crash(server: MariaServer) -> None:
    server.kill()
    server.start()


def test_a_status_that_was_told_is_there_after_a_crash(shaky: Room, crashing: MariaServer) -> None:
    """Else a row's time of delivery changes, and its attempts become fewer."""
    delivered, tried = shaky.envelope(), shaky.envelope()
    shaky.register(delivered, tried)
    with not_on_disk_yet(crashing):
        shaky.deliver(delivered)
        due = tried.queued_at + 30_000
        shaky.settle(settlement(tried, 3, Settlement.RETRY, due_at=due))
    asked = [one.message_id for one in (delivered, tried)]
    told = [find_status(shaky.engine, one, shaky.client_id) for one in asked]
    assert [(one["status"], one["attempt_count"]) for one in told if one] == [
        ("delivered", 1),
        ("queued", 3),
    ]
    crash(crashing)
    assert [find_status(shaky.engine, one, shaky.client_id) for one in asked] == told


def deliver_again(room: Room, envelope: Envelope) -> None:
    assert room.deliver(envelope)[0].result == "already"


def settle_again(room: Room, envelope: Envelope) -> None:
    room.settle(settlement(envelope, 2, envelope=offer(envelope).envelope))


AGAIN: dict[str, tuple[Callable[[Room, Envelope], object], Callable[[Room, Envelope], object]]] = {
    "registered by a repeat": (lambda r, e: r.register(e), lambda r, e: r.register(e)),
    "registered by the reconciler": (
        lambda r, e: r.register(e),
        lambda r, e: r.register(e, accepted=True),
    ),
    "delivered": (lambda r, e: r.deliver(e), deliver_again),
    "settled": (settle_again, settle_again),
}


def test_what_is_answered_by_anothers_commit_is_there_after_a_crash(
    shaky: Room, crashing: MariaServer
) -> None:
    """Who hears it lets the queue forget the message, or tells its sender that it is safe."""
    rows = {}
    for name, (first, again) in AGAIN.items():
        rows[name] = shaky.envelope(**KEY | {"key_mac": name.encode().ljust(32)[:32]})
        with not_on_disk_yet(crashing):
            first(shaky, rows[name])
        again(shaky, rows[name])
        crash(crashing)
        assert shaky.row(rows[name].message_id) is not None, name
