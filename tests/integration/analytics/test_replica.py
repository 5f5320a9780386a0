"""Rows that come from a replica: a real one, of a primary with the log of infra/replicated.cnf.

One that lags behind is found out, since the ledger itself counts; nothing is published until it has
caught up, and nothing is lost.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import insert

from gatepost.cli.failure import Failure
from infra.dev.engines import Engines
from main_server.store.database import transact
from main_server.store.tables import metadata
from tests.integration.analytics.conftest import Ledger, Nights, engine_of, prepare
from tests.integration.analytics.days import SEVENTH, Message, at, night_after
from tests.replication import Pair, replicated

WRAPPED = b"a data key, wrapped"


@pytest.fixture
def pair(engines: Engines, tmp_path: Path) -> Iterator[Pair]:
    with replicated(engines, tmp_path) as pair:
        prepare(pair.primary)
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
