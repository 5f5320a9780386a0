"""A machine with a ledger that is backed up, and an empty one onto which it is restored."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine, select, text

from gatepost.cli.main import run
from infra.dev.engines import Engines, MariaServer
from main_server.audit.chain import SYSTEM, Entry
from main_server.audit.repository import append
from main_server.messages.partitions import ensure_partitions
from main_server.store import schema as migrating
from main_server.store.database import transact
from main_server.store.rights import grant_dumping, parse_account
from main_server.store.tables import KEYS, metadata
from tests.integration.main_server.conftest import KEYS_SCHEMA, engine_of
from tests.integration.main_server.keys.conftest import House, empty

PASSPHRASE = "a passphrase of the backups alone"
SCHEMAS = ("gatepost", KEYS_SCHEMA)


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


class Command:
    """`gatepost backup`, as it is set up on a machine."""

    def __init__(self, source: MariaServer, target: MariaServer, folder: Path, capsys: Any) -> None:
        self.folder, self.backups = folder, folder / "backups"
        self.source, self.target = source, target
        self.config = folder / "backup.yaml"
        self.metrics = folder / "metrics"
        self.metrics.mkdir()
        passphrase = folder / "backup.passphrase"
        passphrase.write_text(PASSPHRASE)
        passphrase.chmod(0o600)
        self._capsys = capsys
        self._passphrase = passphrase
        self.configure()

    def configure(self, **store: Any) -> None:
        tree = {
            "database": {"url": self.source.url("gatepost_backup")},
            "restore": {"url": self.target.url("gatepost_migrate"), "keys_schema": KEYS_SCHEMA},
            "drill": {"url": self.target.url("gatepost_drill", "gatepost_drill")},
            "store": {
                "folder": str(self.backups),
                "passphrase_file": str(self._passphrase),
                "wait_minutes": 0,
                **store,
            },
            "metrics_folder": str(self.metrics),
        }
        self.config.write_text(yaml.safe_dump(tree))

    def arguments(self, *arguments: str) -> list[str]:
        return ["backup", *arguments, "--config", str(self.config)]

    def __call__(self, *arguments: str) -> Said:
        code = run(self.arguments(*arguments))
        captured = self._capsys.readouterr()
        return Said(code, captured.out, captured.err)

    def made(self) -> Path:
        """A new backup's folder."""
        said = self("create", "--json")
        assert said.code == 0, said.err
        return self.backups / str(said.json["backup"])


@pytest.fixture(scope="package")
def source(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        migrator = engine_of(server.url("gatepost_migrate"))
        migrating.upgrade(migrator, KEYS_SCHEMA)
        grant_dumping(migrator, parse_account("gatepost_backup@127.0.0.1"))
        migrator.dispose()
        yield server


@pytest.fixture(scope="package")
def other(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture
def target(other: MariaServer) -> MariaServer:
    """An empty machine."""
    root = engine_of(other.url("root", "mysql"))
    with root.begin() as connection:
        for schema in SCHEMAS:
            connection.execute(text(f"DROP DATABASE {schema}"))
            options = "CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
            connection.execute(text(f"CREATE DATABASE {schema} {options}"))
    root.dispose()
    return other


@pytest.fixture
def ledger(source: MariaServer) -> Iterator[Engine]:
    engine = engine_of(source.url("gatepost_main"))
    ensure_partitions(engine, datetime.now(UTC).date())
    empty(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def house(ledger: Engine, tmp_path: Path) -> House:
    return House(ledger, tmp_path)


@pytest.fixture
def backup(
    engines: Engines,
    source: MariaServer,
    target: MariaServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    tools = engines.mariadb_dump
    capsys.readouterr()  # it may have been unpacked just now, and said so
    monkeypatch.setenv("PATH", f"{tools.program.parent}{os.pathsep}{os.environ['PATH']}")
    if libraries := tools.environment.get("LD_LIBRARY_PATH"):
        monkeypatch.setenv("LD_LIBRARY_PATH", libraries)
    return Command(source, target, tmp_path, capsys)


def note(engine: Engine, subject: str) -> None:
    """An entry of the audit log."""
    now = datetime.now(UTC).replace(tzinfo=None)
    transact(engine, lambda c: append(c, Entry(SYSTEM, "client.created", subject), now))


def contents(engine: Engine, *but: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the ledger, by table."""
    found = {}
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            if table.schema != KEYS and table.name not in but:
                rows = connection.execute(select(table)).all()
                found[table.name] = sorted((tuple(row) for row in rows), key=repr)
    return found
