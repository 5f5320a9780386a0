"""The reports of how many attempts messages took, and how long attempts took that did not deliver.

An attempt that delivers is one call, which is over when the ledger has it: the ledger knows no
beginning of it.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from analytics.reports.hours import KEYS, Report, with_hour
from analytics.reports.times import bucket

ATTEMPTS = Report("report_attempts", (*KEYS, "bucket"), ("delivered", "failed"))
ATTEMPT_TIMES = Report("report_attempt_times", (*KEYS, "bucket"), ("retried", "failed"))


def attempts(messages: DataFrame) -> DataFrame:
    """Count the messages that have ended by how many attempts they took; expired ones may have had
    none.

    The buckets are those of times: up to 15 attempts each number has its own.
    """
    return (
        with_hour(messages.where(f.col("status").isin("delivered", "failed")))
        .withColumn("bucket", bucket(f.col("attempt_count")))
        .groupBy(*ATTEMPTS.keys)
        .agg(
            f.count_if(f.col("status") == "delivered").alias("delivered"),
            f.count_if(f.col("status") == "failed").alias("failed"),
        )
        .select(*ATTEMPTS.keys, *ATTEMPTS.values)
    )


def attempt_times(noted: DataFrame) -> DataFrame:
    """Count the attempts that did not deliver by how long they took: those that were tried again,
    and those after which the message had failed."""
    took = f.unix_millis("ended_at") - f.unix_millis("started_at")
    return (
        with_hour(noted.where(f.col("outcome").isin("retry", "failed")))
        .withColumn("bucket", bucket(took))
        .groupBy(*ATTEMPT_TIMES.keys)
        .agg(
            f.count_if(f.col("outcome") == "retry").alias("retried"),
            f.count_if(f.col("outcome") == "failed").alias("failed"),
        )
        .select(*ATTEMPT_TIMES.keys, *ATTEMPT_TIMES.values)
    )
