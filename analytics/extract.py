"""Read a day out of the ledger, or a replica of it, by JDBC: messages, attempts, senders.

The scheme is jdbc:mysql://, whatever the server is: only for that one does Spark quote names as
MariaDB and MySQL do. With jdbc:mariadb:// it quotes them with ", and every value read is the name
of its column (tests/integration/analytics/test_extract.py shows it).
"""

from collections.abc import Sequence
from datetime import date
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType
from sqlalchemy import URL

from analytics.days import Span, parts_of
from analytics.ledger.connection import LONGEST_STATEMENT_SECONDS
from analytics.schema import ATTEMPTS, BESIDE, COLUMNS, SENDERS, VERSION, schema_of

DRIVER = "org.mariadb.jdbc.Driver"
_ROWS_A_FETCH = 10_000
_OF_ATTEMPTS = ("message_id", "attempt", "started_at", "ended_at", "outcome", "reason")
_ENUMS = ("status", "outcome")


def read_day(session: SparkSession, source: URL, day: date, parts: int) -> DataFrame:
    """Read the messages, lazily: each use of the rows reads the ledger again, and may find other
    rows."""
    rows = _read(session, source, "messages", COLUMNS, day, parts)
    return _typed(rows, COLUMNS, schema_of(VERSION))


def read_attempts(
    session: SparkSession, source: URL, day: date, parts: int, messages: DataFrame
) -> DataFrame:
    """Read the attempts of these messages, from which they get the columns that say whose they
    are."""
    rows = _read(session, source, "attempts", _OF_ATTEMPTS, day, parts)
    whose = messages.select("message_id", "client_id", "domain", "queued_at")
    return _typed(rows.join(whose, "message_id", how="inner"), ATTEMPTS, BESIDE["attempts"])


def read_senders(session: SparkSession, source: URL, day: date, parts: int) -> DataFrame:
    """Read the registers of each client's sketch. What a single message adds to it stays in the
    ledger: the server answers with the highest ranks of each part, and here they are put
    together."""
    found = [_highest_ranks(session, source, span) for span in parts_of(day, parts)]
    register = f.col("sender_register").alias("register")
    parts_of_them = reduce(DataFrame.union, found)
    together = parts_of_them.groupBy("client_id", "domain", "hmac_kid", register)
    ranks = together.agg(f.max("sender_rank").alias("rank"))
    return _typed(ranks, SENDERS, BESIDE["senders"])


def _highest_ranks(session: SparkSession, source: URL, span: Span) -> DataFrame:
    query = (
        "SELECT client_id, domain, hmac_kid, sender_register, MAX(sender_rank) AS sender_rank"
        f" FROM lake_senders WHERE {predicate(span)}"
        " GROUP BY client_id, domain, hmac_kid, sender_register"
    )
    return session.read.jdbc(
        jdbc_url(source), f"({query}) AS ranks", properties=_properties(source)
    )


def _read(
    session: SparkSession, source: URL, table: str, columns: Sequence[str], day: date, parts: int
) -> DataFrame:
    return session.read.jdbc(
        jdbc_url(source),
        f"(SELECT {', '.join(columns)} FROM {table}) AS metadata",
        predicates=[predicate(span) for span in parts_of(day, parts)],
        properties=_properties(source),
    )


def jdbc_url(source: URL) -> str:
    """Return the address for JDBC. Later releases of the driver want to be told permitMysqlScheme.
    Those before 3 know useSsl, those after it sslMode; each passes over the other."""
    place = f"{source.host}:{source.port or 3306}/{source.database}"
    ca = source.query.get("ssl_ca")
    tls = f"&useSsl=true&sslMode=verify-full&serverSslCert={ca}" if ca else ""
    return f"jdbc:mysql://{place}?permitMysqlScheme=true{tls}"


def predicate(span: Span) -> str:
    """Return a range of the primary key, so that the server reads only these rows of one
    partition."""
    return f"message_id >= x'{span.first.hex()}' AND message_id < x'{span.end.hex()}'"


def _properties(source: URL) -> dict[str, str]:
    return {
        "driver": DRIVER,
        "user": source.username or "",
        "password": source.password or "",
        "fetchsize": str(_ROWS_A_FETCH),
        "sessionInitStatement": "SET SESSION time_zone = '+00:00'",
        "connectTimeout": "5000",
        "socketTimeout": str(LONGEST_STATEMENT_SECONDS * 1000),
    }


def _typed(rows: DataFrame, columns: Sequence[str], schema: StructType) -> DataFrame:
    return rows.select(*(_column(name).cast(schema[name].dataType).alias(name) for name in columns))


def _column(name: str) -> Column:
    """Return a column; an ENUM comes as a CHAR, filled up with blanks to the length of its longest
    value."""
    return f.rtrim(f.col(name)) if name in _ENUMS else f.col(name)
