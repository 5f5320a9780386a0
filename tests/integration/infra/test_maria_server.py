"""MariaDB as we start it: settings are in force, users are held to their part, data stays."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pymysql
import pytest
from sqlalchemy.engine import make_url

from infra.dev.engines import Engines, MariaServer


@pytest.fixture(scope="module")
def maria_server(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MariaServer]:
    """One of our own: these tests make and drop tables."""
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        yield server


def ask(server: MariaServer, *statements: str, user: str = "root", schema: str = "gatepost") -> Any:
    """The rows of the last statement."""
    url = make_url(server.url(user, schema))
    connection = pymysql.connect(
        host=url.host,
        port=url.port or 0,
        user=url.username,
        password=url.password or "",
        database=url.database,
        autocommit=True,
    )
    with closing(connection), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_doublewrite", "ON"),
        ("innodb_file_per_table", "ON"),
        ("tx_isolation", "READ-COMMITTED"),
        ("character_set_server", "utf8mb4"),
        ("collation_server", "utf8mb4_unicode_ci"),
        ("time_zone", "+00:00"),
        ("max_connections", "200"),
        ("log_bin", "OFF"),
        ("local_infile", "OFF"),
        ("bind_address", "127.0.0.1"),
        ("socket", ""),
    ],
)
def test_setting_is_in_force(maria_server: MariaServer, name: str, value: str) -> None:
    assert ask(maria_server, f"SHOW GLOBAL VARIABLES LIKE '{name}'") == ((name, value),)


def test_no_other_user_is_left(maria_server: MariaServer) -> None:
    users = ask(maria_server, "SELECT User, Host FROM mysql.user WHERE User <> 'mariadb.sys'")
    assert sorted(users) == [
        ("gatepost_analytics", "127.0.0.1"),
        ("gatepost_backup", "127.0.0.1"),
        ("gatepost_drill", "127.0.0.1"),
        ("gatepost_lake", "127.0.0.1"),
        ("gatepost_main", "127.0.0.1"),
        ("gatepost_migrate", "127.0.0.1"),
        ("gatepost_retention", "127.0.0.1"),
        ("root", "127.0.0.1"),
    ]


TABLE = """CREATE OR REPLACE TABLE attempts (id INT PRIMARY KEY)
PARTITION BY RANGE COLUMNS (id)
(PARTITION p1 VALUES LESS THAN (10), PARTITION rest VALUES LESS THAN (MAXVALUE))"""


def test_the_main_server_writes_rows_and_keeps_partitions(maria_server: MariaServer) -> None:
    ask(maria_server, TABLE, user="gatepost_migrate")
    rows = ask(
        maria_server,
        "INSERT INTO attempts VALUES (1), (11)",
        "ALTER TABLE attempts REORGANIZE PARTITION rest INTO "
        "(PARTITION p2 VALUES LESS THAN (20), PARTITION rest VALUES LESS THAN (MAXVALUE))",
        "ALTER TABLE attempts DROP PARTITION p1",
        "ALTER TABLE attempts DROP PARTITION rest",
        "ALTER TABLE attempts ADD PARTITION (PARTITION p3 VALUES LESS THAN (30))",
        "SELECT id FROM attempts",
        user="gatepost_main",
    )
    assert rows == ((11,),)
    ask(maria_server, "DROP TABLE attempts", user="gatepost_migrate")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE another (id INT)",
        "DROP SCHEMA gatepost_keys",
        "SELECT * FROM mysql.global_priv",
        "SELECT LOAD_FILE('/etc/hostname') INTO OUTFILE '/tmp/out'",
        "SET GLOBAL innodb_flush_log_at_trx_commit = 2",
    ],
)
def test_the_main_server_can_do_no_more(maria_server: MariaServer, statement: str) -> None:
    with pytest.raises(pymysql.OperationalError, match="denied"):
        ask(maria_server, statement, user="gatepost_main")


def test_a_killed_server_comes_back_with_its_data(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("killed-mariadb")
    with MariaServer(engines, folder) as server:
        ask(
            server,
            "CREATE TABLE kept (id INT PRIMARY KEY)",
            "INSERT INTO kept VALUES (7)",
            user="gatepost_migrate",
        )
        server.kill()
        server.start()
        assert ask(server, "SELECT id FROM kept", user="gatepost_main") == ((7,),)
    with MariaServer(engines, folder) as again:
        assert ask(again, "SELECT id FROM kept", user="gatepost_main") == ((7,),)
