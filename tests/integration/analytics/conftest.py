"""A ledger of its own for the pipeline, emptied for each test, and one Spark session for all."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from pyspark.sql import Row, SparkSession
from sqlalchemy import Engine, create_engine, delete, insert, select, text

from analytics import job, lake, nightly, rebuild
from analytics.job import Work
from analytics.lake import Folder
from analytics.ledger.repository import Run
from analytics.schema import VERSION
from analytics.session import open_session
from analytics.settings import AnalyticsSettings
from analytics.submit import NAMES, UTC_OPTION
from gatepost.logs import Log
from infra.dev.engines import Engines, MariaServer
from infra.dev.jvm import find_driver, find_java
from main_server.messages.partitions import ensure_partitions
from main_server.settings import Database
from main_server.store import schema as migrating
from main_server.store.database import create_ledger_engine, transact
from main_server.store.rights import Account, grant_publishing, grant_reading
from main_server.store.tables import metadata
from tests.integration.analytics.days import SEVENTH, Attempt, Message

KEYS_SCHEMA = "gatepost_keys"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What a JVM that lives for a minute doesn't pay back, it leaves undone."""


@pytest.fixture(scope="session", autouse=True)
def leftovers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a JVM that is killed leaves behind is not to lie in the machine's own folder."""
    folder = tmp_path_factory.mktemp("spark")
    os.environ["SPARK_LOCAL_DIRS"] = str(folder)
    os.environ["SPARK_SUBMIT_OPTS"] = f"-Djava.io.tmpdir={folder}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """As spark-submit would start it, in this process."""
    jar = str(find_driver())
    os.environ |= {"JAVA_HOME": str(find_java()), **NAMES}
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    conf = {
        "spark.jars": jar,
        "spark.driver.extraClassPath": jar,
        "spark.driver.extraJavaOptions": f"{UTC_OPTION} {SHORT_LIVED}",
        "spark.executor.extraJavaOptions": UTC_OPTION,
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "1g",
        "spark.sql.codegen.wholeStage": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in conf.items():
        builder = builder.config(name, value)
    builder.getOrCreate()
    session = open_session(file_megabytes=128)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def server(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    """Other tests' ledger has messages of every day; this one has what a test puts into it."""
    with MariaServer(engines, tmp_path_factory.mktemp("lake-ledger")) as server:
        prepare(server)
        yield server


def prepare(server: MariaServer) -> None:
    """Its tables, with the days that tests play, and the rights of the pipeline's users."""
    migrate = engine_of(server, "gatepost_migrate")
    migrating.upgrade(migrate, KEYS_SCHEMA)
    ensure_partitions(migrate, SEVENTH)
    grant_reading(migrate, Account("gatepost_lake", "127.0.0.1"))
    grant_publishing(migrate, Account("gatepost_analytics", "127.0.0.1"))
    migrate.dispose()


def engine_of(server: MariaServer, user: str) -> Engine:
    url = SecretStr(server.url(user))
    return create_ledger_engine(Database(url=url, keys_schema=KEYS_SCHEMA))


@dataclass
class Ledger:
    """The ledger as the main server fills it, and what the pipeline leaves in it."""

    server: MariaServer
    engine: Engine
    folder: Path

    def put(self, *messages: Message) -> None:
        rows = [one.row() for one in messages]
        if not rows:
            return
        transact(self.engine, lambda c: c.execute(insert(metadata.tables["messages"]), rows))

    def note(self, *attempts: Attempt) -> None:
        rows = [one.row() for one in attempts]
        transact(self.engine, lambda c: c.execute(insert(metadata.tables["attempts"]), rows))

    def change(self, message: Message, **values: Any) -> None:
        table = metadata.tables["messages"]
        where = table.c.message_id == message.message_id
        transact(self.engine, lambda c: c.execute(table.update().where(where).values(**values)))

    def drop(self, *messages: Message) -> None:
        table = metadata.tables["messages"]
        ids = [one.message_id for one in messages]
        transact(self.engine, lambda c: c.execute(delete(table).where(table.c.message_id.in_(ids))))

    def set_clock(self, moment: datetime | None) -> None:
        """What the ledger takes for now, for who connects from here on; None: its own."""
        root = create_engine(self.server.url("root", "mysql"))
        seconds = moment.replace(tzinfo=UTC).timestamp() if moment else None
        with root.begin() as connection:
            value = f"SET timestamp = {seconds}" if seconds else ""
            connection.execute(text("SET GLOBAL init_connect = :value"), {"value": value})
        root.dispose()

    def rows(self, name: str) -> list[dict[str, Any]]:
        table = metadata.tables[name]
        query = select(table).order_by(*table.primary_key)
        return transact(self.engine, lambda c: [dict(r) for r in c.execute(query).mappings()])

    def ask_to(self, statement: str) -> None:
        transact(self.engine, lambda c: c.execute(text(statement)))

    def empty(self, *prefixes: str) -> None:
        for name in metadata.tables:
            if name.startswith(prefixes):
                self.ask_to(f"DELETE FROM {name}")

    def settings(self, **given: Any) -> AnalyticsSettings:
        whole: dict[str, Any] = {
            "environment": "development",
            "database": {"url": self.server.url("gatepost_analytics")},
            "source": {"url": self.server.url("gatepost_lake")},
            "lake": {"uri": self.uri},
            "spark": {"jdbc_jar": str(find_driver()), "read_partitions": 2},
        }
        return AnalyticsSettings.model_validate(whole | given)

    @property
    def uri(self) -> str:
        return f"file://{self.folder}/lake"

    def published(self) -> dict[date, Folder]:
        return {row["day"]: Folder(row["day"], row["run_id"]) for row in self.rows("lake_manifest")}


@pytest.fixture
def ledger(server: MariaServer, tmp_path: Path) -> Iterator[Ledger]:
    """Empty."""
    engine = engine_of(server, "gatepost_migrate")
    ledger = Ledger(server, engine, tmp_path)
    ledger.empty("messages", "attempts", "lake_", "report_")
    yield ledger
    ledger.set_clock(None)
    engine.dispose()


class Nights:
    """Plays the pipeline's nights: both clocks say that it is then."""

    def __init__(self, session: SparkSession, ledger: Ledger) -> None:
        self.session = session
        self.ledger = ledger
        self.log = Heard()

    def play(self, now: datetime, *, catch_up: bool = False, **given: Any) -> Run:
        self.ledger.set_clock(now)
        work = partial(nightly.run, catch_up=catch_up)
        return self.run("nightly", work, now, **given)

    def rebuild(self, first: date, last: date, now: datetime, **given: Any) -> Run:
        return self.run("rebuild", partial(rebuild.run, first=first, last=last), now, **given)

    def run(self, kind: str, work: Work, now: datetime, **given: Any) -> Run:
        settings = self.ledger.settings(**given)
        return job.run(self.session, settings, self.log, kind, work, now)

    def messages(self) -> dict[date, list[Row]]:
        """What the manifest selects, day by day, in the order of ids."""
        found = {}
        for day, folder in self.ledger.published().items():
            rows = lake.read(self.session, self.ledger.uri, folder, VERSION)
            found[day] = rows.orderBy("message_id").collect()
        return found


class Heard(Log):
    """A log that remembers."""

    def __init__(
        self, fields: dict[str, Any] | None = None, events: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__("analytics", fields=fields)
        self.events = [] if events is None else events

    def bind(self, **fields: Any) -> "Heard":
        return Heard({**self._fields, **fields}, self.events)

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        self.events.append({"level": level, "event": event, **self._fields, **fields})

    def of(self, event: str) -> list[dict[str, Any]]:
        return [one for one in self.events if one["event"] == event]


@pytest.fixture
def nights(spark: SparkSession, ledger: Ledger) -> Nights:
    return Nights(spark, ledger)
