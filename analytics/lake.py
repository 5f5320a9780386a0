"""The lake's files: messages/dt=<day>/run=<id>/domain=<domain>/*.parquet below a URI.

Each run writes folders of its own and never into another's. Which folder is a day's, the manifest
in the ledger says (I13): a folder that it doesn't name is nobody's, however whole it looks.
"""

from dataclasses import dataclass
from datetime import date

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from analytics.errors import LakeUnreadable
from analytics.schema import schema_of, to_current


@dataclass(frozen=True, slots=True)
class Folder:
    """A day as one run has written it."""

    day: date
    run_id: str

    def path(self, uri: str) -> str:
        return f"{uri}/messages/dt={self.day:%Y-%m-%d}/run={self.run_id}"


def write(messages: DataFrame, uri: str, folder: Folder) -> None:
    """Files of about the wanted size, whoever sends how much: Spark divides what is large and
    joins what is small ("rebalance")."""
    spread = messages.hint("rebalance", "domain").sortWithinPartitions("domain", "message_id")
    spread.write.partitionBy("domain").mode("errorifexists").parquet(folder.path(uri))


def read(session: SparkSession, uri: str, folder: Folder, version: int) -> DataFrame:
    path = folder.path(uri)
    if not exists(session, path):
        raise LakeUnreadable(f"{path} is not there, though the manifest names it.")
    return to_current(session.read.schema(schema_of(version)).parquet(path))


def remove(session: SparkSession, uri: str, folder: Folder) -> None:
    path, system = _locate(session, folder.path(uri))
    system.delete(path, True)


def exists(session: SparkSession, path: str) -> bool:
    where, system = _locate(session, path)
    return bool(system.exists(where))


def unreadable(folder: str, error: Py4JJavaError | PySparkException) -> LakeUnreadable:
    return LakeUnreadable(f"{folder} can't be read: {root_cause(error)}")


def root_cause(error: Py4JJavaError | PySparkException) -> str:
    """The first line of what the JVM says is at the bottom of it."""
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    text = str(cause.toString()) if cause is not None else str(error)
    return text.strip().splitlines()[0]


def _locate(session: SparkSession, text: str):  # type: ignore[no-untyped-def]
    """The path and its file system, as Hadoop knows them."""
    jvm = session.sparkContext._jvm
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(text)
    return path, path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
