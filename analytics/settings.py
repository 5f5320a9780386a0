"""The pipeline's settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from gatepost.config.database import DatabaseAddress
from gatepost.config.settings import Block, ServiceSettings
from gatepost.wire.domains import USUAL_RETENTION_DAYS

Share = Annotated[float, Field(gt=0, lt=1)]
Days_ = Annotated[int, Field(ge=1, le=3660)]


class Publisher(DatabaseAddress):
    """The ledger, as the user who counts messages, and writes manifest and reports."""

    user: str = "gatepost_analytics"
    """Who we are there."""


class Source(DatabaseAddress):
    """Where messages are read: the ledger or a replica of it, as a user who can only read."""

    user: str = "gatepost_lake"
    """Who we are there."""

    @model_validator(mode="after")
    def _as_jdbc_can_be_told(self) -> "Source":
        unknown = sorted(set(self.address().query) - {"ssl_ca", "charset"})
        if unknown:
            raise ValueError(
                f"url: of its options Spark's driver can be told ssl_ca alone, not {unknown[0]}"
            )
        return self


class Lake(Block):
    """Where the lake is, and how large its files are to be."""

    uri: Annotated[str, Field(pattern=r"^(file:///|hdfs://|s3a://)\S(.*[^/\s])?$")]
    """Of its folder."""
    file_megabytes: Annotated[int, Field(ge=1, le=4096)] = 128
    """Of a Parquet file, about."""


class Spark(Block):
    """Where Spark runs, and what it runs with."""

    master: str = "local[*]"
    """As spark-submit's `--master`."""
    java_home: Path | None = None
    """Java 17 or later; else JAVA_HOME's, else that of the PATH."""
    jdbc_jar: Path = Path("/usr/share/java/mariadb-java-client.jar")
    """MariaDB's driver: the package libmariadb-java."""
    driver_memory: Annotated[str, Field(pattern=r"^[0-9]+[mg]$")] = "2g"
    """As spark-submit's `--driver-memory`."""
    read_partitions: Annotated[int, Field(ge=1, le=1440)] = 24
    """How many parts of a day are read, each on a connection of its own."""
    conf: dict[str, str] = Field(default_factory=dict)
    """Of Spark's own settings, whatever else a cluster needs."""

    @property
    def is_local(self) -> bool:
        return self.master.startswith("local")

    def faults(self) -> list[str]:
        if self.is_local or self.conf.get("spark.network.crypto.enabled") == "true":
            return []
        return [
            "conf: set spark.authenticate and spark.network.crypto.enabled (true): the password of"
            " the user who reads goes to the executors"
        ]


class Days(Block):
    """Which days are extracted, and for how long."""

    extracted_again: Days_ = 5
    """So many of the last days, every night: what was accepted on them can still change."""
    max_lifetime_hours: Annotated[int, Field(ge=1)] = 96
    """The main server's own: no message waits for longer."""
    watched: Days_ = 30
    """So many sealed days are compared with the ledger every night, for what changed after all."""
    at_once: Days_ = 31
    """A run that would begin more days than this is refused: a clock has jumped, or catch up."""

    @model_validator(mode="after")
    def _long_enough(self) -> "Days":
        if self.extracted_again * 24 < self.max_lifetime_hours + 24:
            raise ValueError(
                "extracted_again must be max_lifetime_hours and a day more, or a day would be"
                " sealed while its messages still wait"
            )
        return self


class Reports(Block):
    """Pages for each day and month, if there is a folder for them."""

    folder: Path | None = None
    """Where they are written."""
    fewest: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """In the pages of all domains: of fewer messages nothing is said."""


class Targets(Block):
    """How quick the service is to be, and for which share of the messages."""

    accept_ms: Annotated[int, Field(ge=1, le=60_000)] = 100
    """From the post to the answer."""
    accept_share: Share = 0.95
    """Of the messages, so quickly."""
    delivery_seconds: Annotated[float, Field(gt=0, le=345_600)] = 60
    """From the answer to the delivery."""
    delivery_share: Share = 0.99
    """Of the messages, so quickly."""


class Capacity(Block):
    """What the machines can take. Of what isn't named nothing is foreseen."""

    messages_per_second: Annotated[float, Field(gt=0)] | None = None
    """In the busiest hour."""
    ledger_gigabytes: Annotated[float, Field(gt=0)] | None = None
    """Of the ledger's disk."""


@dataclass(frozen=True, slots=True)
class Aims:
    """The targets and limits that a day's reports are held against."""

    targets: Targets
    capacity: Capacity
    kept_days: int


class LedgerOnly(ServiceSettings):
    """The part that a look at the runs needs."""

    model_config = ConfigDict(extra="ignore")
    database: Publisher = Publisher()


class AnalyticsSettings(ServiceSettings):
    database: Publisher = Publisher()
    source: Source | None = None
    lake: Lake
    spark: Spark = Spark()
    days: Days = Days()
    reports: Reports = Reports()
    targets: Targets = Targets()
    capacity: Capacity = Capacity()
    metrics_folder: Path | None = None
    """Of the node exporter's textfile collector."""

    def aims(self) -> Aims:
        return Aims(self.targets, self.capacity, USUAL_RETENTION_DAYS)

    def read_from(self) -> DatabaseAddress:
        return self.source or self.database

    def faults(self) -> list[str]:
        missing = "source: name a user who can only read, who is not the one that publishes"
        return super().faults() + ([missing] if self.source is None else [])
