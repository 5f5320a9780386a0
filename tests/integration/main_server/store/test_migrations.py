"""Migrations: up, down and up again; and what they make is what the code expects."""

import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, MetaData, inspect, text

from infra.dev.engines import Engines, MariaServer
from main_server.commands import db as ledger_commands
from main_server.store import database
from main_server.store import schema as migrating
from main_server.store.rights import SENDERS
from main_server.store.tables import KEYS, metadata
from tests.integration.main_server.conftest import KEYS_SCHEMA, engine_of


@pytest.fixture(scope="module")
def server(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    """One of our own: these tests take all tables away."""
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture
def empty(server: MariaServer) -> Iterator[Engine]:
    """Nothing but the two schemas."""
    engine = engine_of(server.url("gatepost_migrate"))
    yield engine
    with engine.begin() as connection:
        for table in found_tables(connection):
            connection.execute(text(f"DROP TABLE {table}"))
        for view in found_views(connection):
            connection.execute(text(f"DROP VIEW {view}"))
    engine.dispose()


@pytest.fixture
def whole(migrated: None, migration_url: str) -> Iterator[Engine]:
    """The ledger of all tests, which came the whole way: to be looked at."""
    engine = engine_of(migration_url)
    yield engine
    engine.dispose()


def found_tables(connection: Any) -> set[str]:
    return _found(connection, "BASE TABLE")


def found_views(connection: Any) -> set[str]:
    return _found(connection, "VIEW")


def _found(connection: Any, kind: str) -> set[str]:
    query = text(
        "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables"
        " WHERE table_schema IN ('gatepost', 'gatepost_keys') AND table_type = :kind"
    )
    return set(connection.execute(query, {"kind": kind}).scalars())


def expected_tables() -> set[str]:
    own = {f"{KEYS_SCHEMA if t.schema else 'gatepost'}.{t.name}" for t in metadata.tables.values()}
    return own | {"gatepost.alembic_version"}


def test_up_down_and_up_again(empty: Engine) -> None:
    for _ in range(2):
        assert migrating.upgrade(empty, KEYS_SCHEMA) is True
        with empty.connect() as connection:
            assert found_tables(connection) == expected_tables()
            assert found_views(connection) == {f"gatepost.{SENDERS}"}
            assert migrating.current(connection) == migrating.head()
        migrating.downgrade(empty, KEYS_SCHEMA, "base")
        with empty.connect() as connection:
            assert found_tables(connection) == {"gatepost.alembic_version"}
            assert found_views(connection) == set()
            assert migrating.current(connection) is None


def test_a_main_server_waits_for_its_release_of_the_ledger(empty: Engine) -> None:
    """Else it would answer 500 to whatever wants a column that isn't there. One of the release
    before goes on while the ledger is upgraded."""
    head, run = migrating.head(), "run 'gatepost db upgrade'"
    assert migrating.problem(empty) == f"the ledger is empty, this release wants {head}: {run}"
    migrating.upgrade(empty, KEYS_SCHEMA, "0012")
    assert migrating.problem(empty) == f"the ledger is 0012, this release wants {head}: {run}"
    migrating.upgrade(empty, KEYS_SCHEMA)
    assert migrating.problem(empty) is None
    with empty.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert migrating.problem(empty) is None


def test_what_is_up_to_date_is_left_alone(empty: Engine) -> None:
    assert migrating.upgrade(empty, KEYS_SCHEMA) is True
    assert migrating.upgrade(empty, KEYS_SCHEMA) is False


@contextmanager
def somebody_reads(engine: Engine, table: str, seconds: float) -> Iterator[None]:
    """In one transaction, as long as the block or so many seconds, whichever is less."""
    connection = engine.connect()
    connection.execute(text(f"SELECT 1 FROM {table} LIMIT 1"))
    ending = threading.Timer(seconds, connection.rollback)
    ending.start()
    try:
        yield
    finally:
        ending.cancel()
        ending.join()
        connection.close()


def test_who_waits_for_a_table_lets_the_others_by(
    empty: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "LOCK_SECONDS", 1)
    monkeypatch.setattr(migrating, "PAUSE_SECONDS", 0.5)
    migrating.upgrade(empty, KEYS_SCHEMA)
    migrating.downgrade(empty, KEYS_SCHEMA, "0012")
    waited = []
    with somebody_reads(empty, "password_links", 6), ThreadPoolExecutor(1) as pool:
        upgrading = pool.submit(migrating.upgrade, empty, KEYS_SCHEMA)
        while not upgrading.done():
            begun = time.monotonic()
            with empty.begin() as connection:
                connection.execute(text("SELECT 1 FROM password_links"))
            waited.append(time.monotonic() - begun)
        assert upgrading.result(20) is True
    assert 0.5 < max(waited) < 4, "behind the upgrade, but no longer than it waits itself"


def test_a_change_takes_as_long_as_it_takes(
    server: MariaServer, empty: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`gatepost db upgrade` gives up no statement, as everybody else does."""
    monkeypatch.setattr(database, "READ_SECONDS", 1)
    migrating.upgrade(empty, KEYS_SCHEMA)
    migrating.downgrade(empty, KEYS_SCHEMA, "0012")
    config = tmp_path / "ledger.yaml"
    address = {"url": server.url("gatepost_migrate"), "keys_schema": KEYS_SCHEMA}
    config.write_text(json.dumps({"database": address}))
    with somebody_reads(empty, "password_links", 2.5):
        ledger_commands.upgrade(config)
    with empty.connect() as connection:
        assert migrating.current(connection) == migrating.head()


def test_the_tables_are_those_that_the_code_expects(empty: Engine) -> None:
    migrating.upgrade(empty, KEYS_SCHEMA)
    wanted = MetaData()
    for table in metadata.tables.values():
        if table.schema == KEYS:
            table.to_metadata(wanted, schema=KEYS_SCHEMA)
        else:
            table.to_metadata(wanted)
    with empty.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_schemas": True,
                "include_name": ours,
            },
        )
        assert compare_metadata(context, wanted) == []


def ours(name: str | None, kind: str, _parent: Any) -> bool:
    if kind == "schema":
        return name in (None, KEYS_SCHEMA)
    return (name, kind) != ("alembic_version", "table")


@pytest.mark.parametrize("table", list(metadata.tables.values()), ids=lambda t: t.name)
def test_names_are_ascii_and_every_table_is_innodb(whole: Engine, table: Any) -> None:
    """What compare_metadata doesn't see: a client_id must be compared to the letter."""
    schema = KEYS_SCHEMA if table.schema else None
    options = inspect(whole).get_table_options(table.name, schema=schema)
    assert options["mysql_engine"] == "InnoDB"
    assert options["mysql_collate"] == "utf8mb4_unicode_ci"
    names = [c["name"] for c in inspect(whole).get_columns(table.name, schema=schema)]
    assert names == [column.name for column in table.columns]
    for column in inspect(whole).get_columns(table.name, schema=schema):
        collation = getattr(column["type"], "collation", None)
        if re.fullmatch(r"VARCHAR.*", str(column["type"])):
            assert collation == "ascii_bin", column["name"]


@pytest.mark.parametrize("table", ["messages", "attempts"])
def test_it_is_partitioned_by_the_time_in_the_id(empty: Engine, table: str) -> None:
    migrating.upgrade(empty, KEYS_SCHEMA)
    query = text(
        "SELECT partition_name, partition_method, partition_expression, partition_description"
        " FROM information_schema.partitions"
        " WHERE table_schema = 'gatepost' AND table_name = :table"
    )
    with empty.connect() as connection:
        rows = [tuple(row) for row in connection.execute(query, {"table": table})]
    assert rows == [("pmax", "RANGE COLUMNS", "`message_id`", "MAXVALUE")]


def test_at_most_four_secondary_indexes(whole: Engine) -> None:
    """Each costs at ten thousand inserts a second."""
    assert len(inspect(whole).get_indexes("messages")) <= 4


def test_the_main_server_can_not_change_tables(server: MariaServer, empty: Engine) -> None:
    migrating.upgrade(empty, KEYS_SCHEMA)
    engine = engine_of(server.url("gatepost_main"))
    for statement in (
        "DROP TABLE clients",
        "ALTER TABLE certificates ADD COLUMN x INT",
        "CREATE TABLE other (x INT)",
        "DROP TABLE gatepost_keys.data_keys",
    ):
        with pytest.raises(Exception, match="denied"), engine.begin() as connection:
            connection.execute(text(statement))
    engine.dispose()
