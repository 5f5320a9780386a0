"""Rows that come from a replica: a real one, of a primary with the log of infra/replicated.cnf.

One that lags behind is found out, since the ledger itself counts; nothing is published until it has
caught up, and nothing is lost.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine, create_engine, insert, text

from gatepost.cli.failure import Failure
from infra.dev.engines import Engines, MariaServer
from infra.dev.paths import ROOT
from main_server.database import transact
from main_server.tables import metadata
from tests.integration.analytics.conftest import Ledger, Nights, engine_of, prepare
from tests.integration.analytics.days import SEVENTH, Message, at, night_after

OF_A_PRIMARY = [
    f"--{line.replace(' = ', '=')}"
    for line in (ROOT / "infra" / "replicated.cnf").read_text().splitlines()
    if re.match(r"[a-z]", line)
]
OF_A_REPLICA = ["--server-id=2", "--read-only", "--relay-log=relay"]
PATIENCE = 30.0
WRAPPED = b"a data key, wrapped"


@dataclass
class Pair:
    primary: MariaServer
    replica: MariaServer

    def follow(self) -> None:
        """From here on; what there is so far, both have made for themselves."""
        with _root(self.primary).connect() as connection:
            for statement in (
                "CREATE USER replicator@127.0.0.1 IDENTIFIED BY 'for a test alone'",
                "GRANT REPLICATION SLAVE ON *.* TO replicator@127.0.0.1",
            ):
                connection.execute(text(statement))
            position = connection.execute(text("SELECT @@gtid_binlog_pos")).scalar_one()
        with _root(self.replica).connect() as connection:
            connection.execute(text("SET GLOBAL gtid_slave_pos = :pos"), {"pos": position})
            connection.execute(
                text(
                    f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={self.primary.port},"
                    " MASTER_USER='replicator', MASTER_PASSWORD='for a test alone',"
                    " MASTER_USE_GTID=slave_pos"
                )
            )
            connection.execute(text("START SLAVE"))

    def ask_replica(self, statement: str) -> dict[str, Any]:
        with _root(self.replica).connect() as connection:
            result = connection.execute(text(statement))
            return dict(result.mappings().one()) if result.returns_rows else {}

    def catch_up(self) -> None:
        with _root(self.primary).connect() as connection:
            position = connection.execute(text("SELECT @@gtid_binlog_pos")).scalar_one()
        deadline = time.monotonic() + PATIENCE
        while self.ask_replica("SELECT @@gtid_slave_pos AS at")["at"] != position:
            assert time.monotonic() < deadline, self.ask_replica("SHOW SLAVE STATUS")
            time.sleep(0.02)


def _root(server: MariaServer) -> Engine:
    return create_engine(server.url("root", "mysql"), isolation_level="AUTOCOMMIT")


@pytest.fixture
def pair(engines: Engines, tmp_path: Path) -> Iterator[Pair]:
    with (
        MariaServer(engines, tmp_path / "primary", options=OF_A_PRIMARY) as primary,
        MariaServer(engines, tmp_path / "replica", options=OF_A_REPLICA) as replica,
    ):
        pair = Pair(primary, replica)
        pair.follow()
        prepare(primary)
        pair.catch_up()
        yield pair


def test_a_replica_that_lags_is_found_out_and_has_no_keys(
    pair: Pair, spark: SparkSession, tmp_path: Path
) -> None:
    engine = engine_of(pair.primary, "gatepost_migrate")
    ledger = Ledger(pair.primary, engine, tmp_path)
    nights = Nights(spark, ledger)
    source = {"url": pair.replica.url("gatepost_lake")}
    ledger.put(Message(at(SEVENTH, 1)))
    pair.catch_up()
    pair.ask_replica("STOP SLAVE SQL_THREAD")
    ledger.put(Message(at(SEVENTH, 2)))

    with pytest.raises(Failure, match=r"1 in the lake, 2 in the ledger.*lag behind") as failure:
        nights.play(night_after(SEVENTH), source=source)
    assert failure.value.kind == "refused"
    assert ledger.published() == {}

    pair.ask_replica("START SLAVE SQL_THREAD")
    pair.catch_up()
    assert nights.play(night_after(SEVENTH), source=source).row_count == 2
    assert len(nights.messages()[SEVENTH]) == 2

    add_key(ledger)
    pair.catch_up()
    count = "SELECT COUNT(*) AS keys_there FROM gatepost_keys.data_keys"
    assert pair.ask_replica(count) == {"keys_there": 0}
    logs = list((pair.primary.folder / "data").glob("binlog.0*"))
    assert any(b"lake_manifest" in log.read_bytes() for log in logs)
    assert not any(WRAPPED in log.read_bytes() for log in logs)
    engine.dispose()


def add_key(ledger: Ledger) -> None:
    row = {
        "key_id": 1,
        "client_id": "example.com:client_001",
        "day": SEVENTH,
        "state": "current",
        "master_kid": bytes(8),
        "wrapped": WRAPPED,
        "created_at": night_after(SEVENTH),
    }
    table = metadata.tables["keys.data_keys"]
    transact(ledger.engine, lambda c: c.execute(insert(table), row))
