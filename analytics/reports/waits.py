"""The report of how long messages waited in the queue: for their first attempt, and from one
attempt to the next.

A delivery has no beginning in the ledger, so a wait that ended with one has the time of its call
in it, which is 10 s at most.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from analytics.reports.hours import KEYS, Report, with_hour
from analytics.reports.times import bucket

QUEUE_TIMES = Report("report_queue_times", (*KEYS, "wait", "bucket"), ("waits",))
_WAIT = ("message_id", "domain", "client_id", "wait", "took")


def queue_times(messages: DataFrame, noted: DataFrame) -> DataFrame:
    """Count the waits by what they were for and how long they were.

    The waits for attempts that the ledger doesn't know (a note of a retry that was lost, those in
    the middle of very many) are not known either.
    """
    waits = _until_noted_firsts(noted).union(_until_delivered_at_once(messages, noted))
    return (
        with_hour(waits.union(_between(noted)))
        .withColumn("bucket", bucket(f.col("took")))
        .groupBy(*QUEUE_TIMES.keys)
        .agg(f.count("*").alias("waits"))
        .select(*QUEUE_TIMES.keys, *QUEUE_TIMES.values)
    )


def _until_noted_firsts(noted: DataFrame) -> DataFrame:
    took = f.unix_millis("started_at") - f.unix_millis("queued_at")
    firsts = noted.where(f.col("attempt") == 1)
    return firsts.withColumns({"wait": f.lit("first"), "took": took}).select(*_WAIT)


def _until_delivered_at_once(messages: DataFrame, noted: DataFrame) -> DataFrame:
    """Return the waits of messages of which nothing was noted: delivered at the first attempt, and
    in their first life (a redriven one may have failed before its first attempt)."""
    took = f.unix_millis("delivered_at") - f.unix_millis("queued_at")
    at_once = (f.col("status") == "delivered") & (f.col("attempt_count") == 1)
    firsts = noted.where(f.col("attempt") == 1).select("message_id")
    return (
        messages.where(at_once & (f.col("generation") == 0))
        .join(firsts, "message_id", how="left_anti")
        .withColumns({"wait": f.lit("first"), "took": took})
        .select(*_WAIT)
    )


def _between(noted: DataFrame) -> DataFrame:
    """Return the waits between attempts. After a failure no attempt follows but in another life,
    for which nobody has waited."""
    before = Window.partitionBy("message_id").orderBy("attempt")
    took = f.unix_millis("started_at") - f.unix_millis(f.lag("ended_at").over(before))
    follows = f.lag("attempt").over(before) == f.col("attempt") - 1
    retried = f.lag("outcome").over(before) == "retry"
    return (
        noted.withColumns({"wait": f.lit("again"), "took": took, "known": follows & retried})
        .where("known")
        .select(*_WAIT)
    )
