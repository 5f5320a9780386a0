"""Sketches of the senders, in the form in which gatepost.reports.sketch reads them.

There is one for each client, and one for each domain as a whole, whose client_id is then empty: a
domain of thousands of clients needn't be merged each time that somebody looks.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from analytics.reports.hours import Report
from gatepost.reports.sketch import REGISTERS

UNIQUE_SENDERS = Report("report_senders", ("domain", "client_id", "hmac_kid"), ("sketch",))
_ENTRY = 3
WHOLE_DOMAIN = ""


def unique_senders(registers: DataFrame) -> DataFrame:
    """Make a sketch for each key of the MACs: senders under two keys can't be told to be the
    same."""
    whole = registers.withColumn("client_id", f.lit(WHOLE_DOMAIN))
    keys = UNIQUE_SENDERS.keys
    return (
        registers.unionByName(whole)
        .groupBy(*keys, "register")
        .agg(f.max("rank").alias("rank"))
        .groupBy(*keys)
        .agg(f.array_sort(f.collect_list(f.struct("register", "rank"))).alias("kept"))
        .select(*keys, _packed(f.col("kept")).alias("sketch"))
    )


def _packed(kept: Column) -> Column:
    """Pack a sketch in the shorter of the two forms."""
    return f.unhex(f.when(f.size(kept) * _ENTRY < REGISTERS, _entries(kept)).otherwise(_all(kept)))


def _entries(kept: Column) -> Column:
    """Pack the registers that aren't 0, each as its number, in two bytes, and its rank."""

    def entry(one: Column) -> Column:
        return f.concat(f.lpad(f.hex(one["register"]), 4, "0"), _byte(one["rank"]))

    return f.array_join(f.transform(kept, entry), "")


def _all(kept: Column) -> Column:
    """Pack the rank of each register: where some are missing between two, there are so many
    zeros."""

    def entry(one: Column, number: Column) -> Column:
        before = f.coalesce(f.get(kept, number - 1)["register"], f.lit(-1))
        return f.concat(f.repeat(f.lit("00"), one["register"] - before - 1), _byte(one["rank"]))

    return f.rpad(f.array_join(f.transform(kept, entry), ""), 2 * REGISTERS, "0")


def _byte(number: Column) -> Column:
    return f.lpad(f.hex(number), 2, "0")
