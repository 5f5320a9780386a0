"""From a partner's post to the reports: messages go the real path, the job runs on the settings
that `./dev up` has written, with nothing done by hand, and runs again.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from sqlalchemy import create_engine, make_url, text

from analytics import submit
from analytics.days import day_of
from analytics.settings import AnalyticsSettings, Spark
from gatepost.identity import Identity, Role
from gatepost.settings import load
from infra.dev.jvm import find_driver, find_java
from infra.dev.paths import ROOT
from main_server.database import transact
from main_server.tables import metadata
from tests.acceptance.site import Site, accepted, post

NIGHTS_MAIN = Path(__file__).with_name("nights_main.py")
PATIENCE = 150
SENT = 5
DAY = timedelta(days=1)


@pytest.fixture
def config(site: Site, tmp_path: Path) -> Iterator[Path]:
    """As `./dev up` has written it, but for what keeps the test small: no day before today."""
    find_driver()
    tree = yaml.safe_load((site.stack.place.config / "analytics.yaml").read_text())
    tree["lake"]["uri"] = f"file://{tmp_path}/lake"
    tree["days"] = {"watched": 1}
    tree["spark"] |= {"read_partitions": 1, "conf": {"spark.sql.shuffle.partitions": "1"}}
    file = tmp_path / "analytics.yaml"
    file.write_text(yaml.safe_dump(tree))
    _empty(site)
    yesterday, now = datetime.now(UTC).date() - DAY, "UTC_TIMESTAMP(3)"
    _execute(
        site,
        "INSERT INTO lake_manifest (day, run_id, schema_version, row_count, id_xor,"
        " first_published_at, published_at, sealed_at, late_changes)"
        f" VALUES ('{yesterday}', 'before', 1, 0, 0, {now}, {now}, {now}, 0)",
    )
    yield file
    _empty(site)


def test_messages_are_in_the_reports_of_their_day(site: Site, config: Path) -> None:
    domain = f"{uuid4().hex[:8]}.example"
    pair = site.issue(Identity(domain, Role.CLIENT, "sender"))
    with site.calling(pair.files) as client:
        sent = [accepted(post(client)) for _ in range(SENT)]
    site.wait_delivered(*sent)
    day = day_of(UUID(sent[0]).bytes)

    with _ledger_of_tomorrow(site):
        first, second = _play(config)

    for events in (first, second):
        assert [one["event"] for one in events if one["level"] != "info"] == []
        (published,) = [one for one in events if one["event"] == "day.published"]
        assert (published["day"], published["sealed"]) == (str(day), False)
    assert first[-1]["rows"] <= second[-1]["rows"]
    hours = _reported(site, day, domain)
    assert {row["client_id"] for row in hours} == {f"{domain}:sender"}
    assert sum(row["accepted"] for row in hours) == SENT
    assert sum(row["delivered"] for row in hours) == SENT
    assert sum(row["failed"] + row["waiting"] for row in hours) == 0


def test_in_development_it_is_ready_as_it_is(site: Site) -> None:
    """Who has an older driver or none gets the one that is named, unpacked, before it is used."""
    settings = load(AnalyticsSettings, site.stack.place.config / "analytics.yaml")
    users = [settings.database.address().username, settings.read_from().address().username]
    assert users == ["gatepost_analytics", "gatepost_lake"]
    assert settings.lake.uri == f"file://{site.stack.place.folder.resolve()}/lake"
    assert settings.spark.jdbc_jar == find_driver()


def _play(config: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the two nights have said."""
    spark = load(AnalyticsSettings, config).spark
    given = ["--config", str(config), "run"]
    command = submit.command(spark, config.parent, given, progress=False)
    environment = submit.environment(Spark(java_home=find_java()), os.environ)
    said = subprocess.run(
        [str(NIGHTS_MAIN) if part == str(submit.MAIN) else part for part in command],
        check=False,
        capture_output=True,
        text=True,
        env=environment | {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        timeout=PATIENCE,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    events = [json.loads(line) for line in said.stdout.splitlines()]
    _, second = [n for n, one in enumerate(events) if one["event"] == "run.started"]
    return events[:second], events[second:]


def _reported(site: Site, day: date, domain: str) -> list[dict[str, Any]]:
    query = text("SELECT * FROM report_hours WHERE day = :day AND domain = :domain")
    given = {"day": day, "domain": domain}
    return transact(site.engine, lambda c: [dict(r) for r in c.execute(query, given).mappings()])


@contextmanager
def _ledger_of_tomorrow(site: Site) -> Iterator[None]:
    """For the pipeline alone: to everybody else the ledger says what time it is."""
    night = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + DAY
    publisher = "SUBSTRING_INDEX(USER(), '@', 1) = 'gatepost_analytics'"
    _as_root(site, f"SET timestamp = IF({publisher}, {int(night.timestamp())}, 0)")
    try:
        yield
    finally:
        _as_root(site, "")


def _as_root(site: Site, at_each_connection: str) -> None:
    passwords = json.loads((site.stack.place.folder / "mariadb" / "passwords.json").read_text())
    url = make_url(site.status["database"]).set(
        username="root", password=passwords["root"], database="mysql"
    )
    engine = create_engine(url)
    with engine.begin() as connection:
        value = {"value": at_each_connection}
        connection.execute(text("SET GLOBAL init_connect = :value"), value)
    engine.dispose()


def _empty(site: Site) -> None:
    for name in metadata.tables:
        if name.startswith(("lake_", "report_")):
            _execute(site, f"DELETE FROM {name}")


def _execute(site: Site, statement: str) -> None:
    transact(site.engine, lambda c: c.execute(text(statement)))
