"""The bucket that a time falls into, for Spark; gatepost.reports.times reads buckets."""

from pyspark.sql import Column
from pyspark.sql import functions as f

from gatepost.reports.times import A_DOUBLING


def bucket(milliseconds: Column) -> Column:
    """Return the bucket of a time; what two clocks made negative took no time."""
    longest = f.greatest(milliseconds, f.lit(0)) + f.lit(1)
    return f.floor(f.log2(longest) * f.lit(A_DOUBLING)).cast("int")
