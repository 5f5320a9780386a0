"""Small frames, as the lake has them, of messages that tests choose."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from analytics.reports.day import DayRows
from analytics.schema import BESIDE, COLUMNS, SCHEMAS, VERSION
from gatepost.reports.sketch import HIGHEST_RANK, REGISTERS
from tests.integration.analytics.days import Attempt, Message


def frame(session: SparkSession, *messages: Message) -> DataFrame:
    rows = [tuple(one.row().get(name) for name in COLUMNS) for one in messages]
    return session.createDataFrame(rows, SCHEMAS[VERSION])


def noted(session: SparkSession, *attempts: Attempt) -> DataFrame:
    schema = BESIDE["attempts"]
    rows = [{**one.message.row(), **one.row()} for one in attempts]
    return session.createDataFrame([tuple(row[n] for n in schema.names) for row in rows], schema)


def registers(session: SparkSession, *messages: Message) -> DataFrame:
    """What the ledger's view shows of the MACs, put together by client."""
    kept: dict[tuple[str, str, bytes, int], int] = {}
    for one in messages:
        if one.mac is not None:
            key = (one.client_id, one.domain, one.kid, int.from_bytes(one.mac[:2]) % REGISTERS)
            rank = min(49 - int.from_bytes(one.mac[2:8]).bit_length(), HIGHEST_RANK)
            kept[key] = max(rank, kept.get(key, 0))
    rows = [(*key, rank) for key, rank in kept.items()]
    return session.createDataFrame(rows, BESIDE["senders"])


def day_of(
    session: SparkSession, messages: Sequence[Message], attempts: Sequence[Attempt] = ()
) -> DayRows:
    return DayRows(
        frame(session, *messages), noted(session, *attempts), registers(session, *messages)
    )


def rows(report: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in report.collect())
