"""The lake's files: <data set>/dt=<day>/run=<id>/… below a URI, as Parquet.

    messages/, attempts/, senders/   what the ledger had of the day, by domain
    reports/                         what was made of it, by report

Each run writes folders of its own and never into another's. The manifest in the ledger says which
folders are a day's (I13): a folder that it doesn't name is nobody's, however whole it looks.
"""

from dataclasses import dataclass
from datetime import date

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from analytics.errors import CountsDisagree, LakeUnreadable
from analytics.reports.day import DayRows
from analytics.schema import BESIDE, SINCE, schema_of, to_current
from gatepost.errors import ConfigurationError

MESSAGES, REPORTS = "messages", "reports"
"""The two kinds of folders: a day's rows, which nothing changes, and its reports, which can be made
again."""
_ROWS = (MESSAGES, *BESIDE)


@dataclass(frozen=True, slots=True)
class Folder:
    """A day as one run has written it: its rows, or its reports."""

    day: date
    run_id: str
    kind: str = MESSAGES

    def path(self, uri: str, data_set: str = MESSAGES) -> str:
        return f"{uri}/{data_set}/dt={self.day:%Y-%m-%d}/run={self.run_id}"


def write(rows: DataFrame, uri: str, folder: Folder, data_set: str = MESSAGES) -> None:
    """Write files of about the wanted size, whoever sends how much: Spark divides what is large and
    joins what is small ("rebalance")."""
    order = "message_id" if "message_id" in rows.columns else "client_id"
    _write(rows, folder.path(uri, data_set), "domain", order)


def read(session: SparkSession, uri: str, folder: Folder, version: int) -> DataFrame:
    return to_current(_read(session, folder.path(uri), schema_of(version)))


def read_beside(session: SparkSession, uri: str, folder: Folder, version: int) -> DayRows:
    """Read the messages, and what lies beside them: nothing in an older version."""
    beside = {
        name: _read(session, folder.path(uri, name), schema)
        if version >= SINCE
        else session.createDataFrame([], schema)
        for name, schema in BESIDE.items()
    }
    return DayRows(read(session, uri, folder, version), **beside)


def write_reports(reports: DataFrame, uri: str, folder: Folder) -> DataFrame:
    """Write the reports; return what is there then: so what is published is what the lake has."""
    path = folder.path(uri, REPORTS)
    _write(reports, path, "report", "domain", "client_id")
    return _read(reports.sparkSession, path, reports.schema)


def remove(session: SparkSession, uri: str, folder: Folder) -> None:
    """Remove a folder; raise LakeUnreadable if something of it stays: a file system may just say
    no."""
    for data_set in _ROWS if folder.kind == MESSAGES else (REPORTS,):
        where = folder.path(uri, data_set)
        path, system = _locate(session, where)
        try:
            system.delete(path, True)
            stays = system.exists(path)
        except Py4JJavaError as error:
            raise LakeUnreadable(f"{where} can't be removed: {root_cause(error)}") from error
        if stays:
            raise LakeUnreadable(f"{where} can't be removed.")


def demand_opened(session: SparkSession, uri: str) -> None:
    """Raise ConfigurationError if the lake's file system isn't known here, before anything is
    begun."""
    try:
        _locate(session, uri)
    except Py4JJavaError as error:
        raise ConfigurationError(
            f"lake.uri: Spark can't open {uri}: {root_cause(error)}. The libraries of its file"
            " system must be where Spark finds them (docs/pipeline.md)"
        ) from error


def exists(session: SparkSession, path: str) -> bool:
    where, system = _locate(session, path)
    return bool(system.exists(where))


def unreadable(folder: str, error: Py4JJavaError | PySparkException) -> LakeUnreadable:
    return LakeUnreadable(f"{folder} can't be read: {root_cause(error)}")


def root_cause(error: Py4JJavaError | PySparkException) -> str:
    """Return the first line of what the JVM says is at the bottom of an error."""
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    text = str(cause.toString()) if cause is not None else str(error)
    return text.strip().splitlines()[0]


def _write(rows: DataFrame, path: str, by: str, *order: str) -> None:
    spread = rows.hint("rebalance", by).sortWithinPartitions(by, *order)
    spread.write.partitionBy(by).mode("errorifexists").parquet(path)


def _read(session: SparkSession, path: str, schema: StructType) -> DataFrame:
    if not exists(session, path):
        raise CountsDisagree(f"{path} is not there, though the manifest names it.")
    return session.read.schema(schema).parquet(path)


def _locate(session: SparkSession, text: str):  # type: ignore[no-untyped-def]
    """Return the path and its file system, as Hadoop knows them."""
    jvm = session.sparkContext._jvm
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(text)
    return path, path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
