"""The Spark session. Everything is UTC: the ledger's times have no zone, and what reads them (the
driver's and the executors' JVM) would take its own."""

from pyspark.sql import SparkSession

from analytics.submit import UTC_OPTION
from gatepost.errors import ConfigurationError

SESSION = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Fewer parts where there is little to do, more where one domain has most of it.
    "spark.sql.adaptive.enabled": "true",
}
_QUIET = "ERROR"


def open_session(file_megabytes: int) -> SparkSession:
    """Open the session of this process, whose JVM was started by spark-submit."""
    builder = SparkSession.builder.appName("gatepost-analytics")
    for name, value in SESSION.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.conf.set("spark.sql.adaptive.advisoryPartitionSizeInBytes", f"{file_megabytes}m")
    session.sparkContext.setLogLevel(_QUIET)
    demand_utc(session)
    return session


def demand_utc(session: SparkSession) -> None:
    jvm = session.sparkContext._jvm
    assert jvm is not None
    zone = jvm.java.util.TimeZone.getDefault().getID()
    executors = session.sparkContext.getConf().get("spark.executor.extraJavaOptions", "") or ""
    if zone != "UTC" or UTC_OPTION not in executors:
        raise ConfigurationError(
            f"Spark would read times as {zone}'s. Start it by `gatepost analytics run`, or with"
            f" {UTC_OPTION} in spark.driver.extraJavaOptions and spark.executor.extraJavaOptions."
        )
