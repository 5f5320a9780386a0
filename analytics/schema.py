"""The schema of the lake: the columns of each version, and the way from an older one to now.

It holds metadata only. Bodies, numbers, their MACs, and what opens or finds them have no column
here, and the user who reads the ledger has no right to theirs.
"""

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from analytics.errors import LakeUnreadable

VERSION = 2
"""The version now. In 2, attempts and senders lie beside the messages. A day of version 1 has
neither."""

COLUMNS = (
    "message_id",
    "client_id",
    "domain",
    "status",
    "reason",
    "created_at",
    "queued_at",
    "delivered_at",
    "expires_at",
    "attempt_count",
    "queue",
    "priority",
    "generation",
)

_TYPES = {
    "message_id": BinaryType(),
    "created_at": TimestampType(),
    "queued_at": TimestampType(),
    "delivered_at": TimestampType(),
    "expires_at": TimestampType(),
    "attempt_count": IntegerType(),
    "priority": ShortType(),
    "generation": IntegerType(),
    "attempt": IntegerType(),
    "started_at": TimestampType(),
    "ended_at": TimestampType(),
    "hmac_kid": BinaryType(),
    "register": IntegerType(),
    "rank": IntegerType(),
}

ATTEMPTS = (
    "message_id",
    "client_id",
    "domain",
    "queued_at",
    "attempt",
    "started_at",
    "ended_at",
    "outcome",
    "reason",
)
"""The columns of an attempt that the ledger has noted, and whose it is. A success at once leaves
none."""

SENDERS = ("client_id", "domain", "hmac_kid", "register", "rank")
"""The columns of a register of a client's sketch of the day: the highest rank that any of its
senders has there (gatepost.reports.sketch). It can't be told which message a rank comes from."""


def _struct(*names: str) -> StructType:
    return StructType([StructField(name, _TYPES.get(name, StringType())) for name in names])


SCHEMAS = {version: _struct(*COLUMNS) for version in (1, 2)}
BESIDE = {"attempts": _struct(*ATTEMPTS), "senders": _struct(*SENDERS)}
SINCE = 2
"""The version from which on attempts and senders are there."""


def schema_of(version: int) -> StructType:
    if version not in SCHEMAS:
        raise LakeUnreadable(
            f"The lake has a day of schema {version}, which a later release has written."
            " Install that release."
        )
    return SCHEMAS[version]


def to_current(messages: DataFrame) -> DataFrame:
    """Return rows of any version as they are now. A column that came later is empty in older
    days."""
    return messages.select(*COLUMNS)
