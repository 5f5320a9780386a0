"""What a message is in the lake: the columns of each version, and the way from an older one to now.

Metadata only. Bodies, numbers, their MACs, and what opens or finds them have no column here, and
the user who reads the ledger has no right to theirs.
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

VERSION = 1

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
}

SCHEMAS = {
    1: StructType([StructField(name, _TYPES.get(name, StringType())) for name in COLUMNS]),
}


def schema_of(version: int) -> StructType:
    if version not in SCHEMAS:
        raise LakeUnreadable(
            f"The lake has a day of schema {version}, which a later release has written."
            " Install that release."
        )
    return SCHEMAS[version]


def to_current(messages: DataFrame) -> DataFrame:
    """Rows of any version as they are now. A column that came later is empty in older days."""
    return messages.select(*COLUMNS)
