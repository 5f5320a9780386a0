"""Reads a day's messages out of the ledger, or a replica of it, by JDBC.

The scheme is jdbc:mysql://, whatever the server is: only for that one does Spark quote names as
MariaDB and MySQL do. With jdbc:mariadb:// it quotes them with ", and every value read is the name
of its column (tests/integration/analytics/test_extract.py shows it).
"""

from datetime import date

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from sqlalchemy import URL

from analytics.days import Span, parts_of
from analytics.schema import COLUMNS, SCHEMAS, VERSION

DRIVER = "org.mariadb.jdbc.Driver"
_ROWS_A_FETCH = 10_000
_FIELDS = {field.name: field.dataType for field in SCHEMAS[VERSION]}
_TABLE = f"(SELECT {', '.join(COLUMNS)} FROM messages) AS metadata"


def read_day(session: SparkSession, source: URL, day: date, parts: int) -> DataFrame:
    """Lazily: each use of it reads the ledger again, and may find other rows."""
    rows = session.read.jdbc(
        jdbc_url(source),
        _TABLE,
        predicates=[predicate(span) for span in parts_of(day, parts)],
        properties=_properties(source),
    )
    return rows.select(*(_column(name) for name in COLUMNS))


def jdbc_url(source: URL) -> str:
    """permitMysqlScheme: later releases of the driver want to be told."""
    place = f"{source.host}:{source.port or 3306}/{source.database}"
    return f"jdbc:mysql://{place}?permitMysqlScheme=true"


def predicate(span: Span) -> str:
    """A range of the primary key, so that the server reads only these rows of one partition."""
    return f"message_id >= x'{span.first.hex()}' AND message_id < x'{span.end.hex()}'"


def _properties(source: URL) -> dict[str, str]:
    return {
        "driver": DRIVER,
        "user": source.username or "",
        "password": source.password or "",
        "fetchsize": str(_ROWS_A_FETCH),
        "sessionInitStatement": "SET SESSION time_zone = '+00:00'",
        "connectTimeout": "5000",
    }


def _column(name: str) -> Column:
    """An ENUM comes as a CHAR, filled up with blanks to the length of its longest value."""
    value = f.rtrim(f.col(name)) if name == "status" else f.col(name)
    return value.cast(_FIELDS[name]).alias(name)
