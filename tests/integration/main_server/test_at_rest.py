"""Nothing readable at rest: not in a row, not in any file of the database, in no form (I6)."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from gatepost.wire.contract import Settlement
from infra.dev.engines import Engines, MariaServer
from main_server.keys.master import MasterKeys
from main_server.keys.service import open_keyring
from main_server.store import schema as migrating
from tests.integration.main_server.conftest import (
    KEYS_SCHEMA,
    MASTER,
    Room,
    engine_of,
    settlement,
)

BODY = "canary \u00e4\U0001f600 7f3a9c51 body"
NUMBER = "+49170123456789"


@pytest.fixture
def server(engines: Engines, tmp_path: Path) -> Iterator[MariaServer]:
    """One of our own: all of its files are looked through."""
    with MariaServer(engines, tmp_path / "mariadb") as server:
        migrator = engine_of(server.url("gatepost_migrate"))
        migrating.upgrade(migrator, KEYS_SCHEMA)
        migrator.dispose()
        yield server


def forms(secret: str) -> set[bytes]:
    """As it could lie about: plain, hex, escaped, in wide characters, base64 at each offset."""
    plain = secret.encode()
    found = {
        plain,
        plain.hex().encode(),
        plain.hex().upper().encode(),
        json.dumps(secret).strip('"').encode(),
        secret.encode("utf-16-le"),
        secret.encode("utf-16-be"),
    }
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + plain)
        found.add(encoded[4:-4])
        found.add(encoded[4:-4].replace(b"+", b"-").replace(b"/", b"_"))
    return found


def test_the_search_would_find_it(tmp_path: Path) -> None:
    """The test of the test: each form is found where it is put."""
    for number, form in enumerate(forms(BODY) | forms(NUMBER)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "file").write_bytes(b"\0" * 5000 + form + b"\0" * 5000)
        assert found_below(folder), form


def found_below(folder: Path) -> list[tuple[str, bytes]]:
    secrets = forms(BODY) | forms(NUMBER)
    return [
        (file.name, secret)
        for file in folder.rglob("*")
        if file.is_file()
        for data in (file.read_bytes(),)
        for secret in secrets
        if secret in data
    ]


def test_nothing_of_a_message_can_be_read_below_the_data_folder(server: MariaServer) -> None:
    engine = engine_of(server.url("gatepost_main"))
    room = Room(engine, open_keyring(engine, MasterKeys(lambda: [MASTER])))
    sent = [room.envelope(body=BODY, number=NUMBER) for _ in range(20)]
    room.register(*sent[:5])
    room.deliver(*sent[:10])
    room.settle(*(settlement(one, 2, Settlement.RETRY) for one in sent[:15]))
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM messages")).all()
        keys = connection.execute(text("SELECT * FROM gatepost_keys.data_keys")).all()
    assert len(rows) == 10
    engine.dispose()
    for row in (*rows, *keys):
        for value in row:
            data = value if isinstance(value, bytes) else str(value).encode()
            assert not [secret for secret in forms(BODY) | forms(NUMBER) if secret in data]
    assert found_below(server.folder) == []
    server.stop()
    assert found_below(server.folder) == []
    marker = rows[0].message_id
    assert any(marker in f.read_bytes() for f in server.folder.rglob("*") if f.is_file())


def test_the_files_are_for_nobody_else(server: MariaServer) -> None:
    assert server.folder.stat().st_mode & 0o077 == 0
