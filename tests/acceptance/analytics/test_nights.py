"""From a partner's post to the reports, and to the end: messages go the real path, the job runs on
the settings that `./dev up` has written, and again; when its time has come the day is sealed, and
retention takes it away, rows and key. A copy of a row from before, as a backup has it, is opened by
nothing that is left.

Days pass in the clocks that pipeline and retention ask; everybody else's messages are kept longer.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import yaml
from sqlalchemy import Engine, event, insert, text

from analytics import submit
from analytics.days import day_of
from analytics.settings import AnalyticsSettings, Spark
from gatepost.config.settings import load
from gatepost.errors import CannotOpen
from gatepost.trust.identity import Identity, Role
from gatepost.wire.content import decode_content
from infra.dev.jvm import find_driver, find_java
from infra.dev.paths import ROOT
from main_server.keys.backup.standing import renew_backup
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.keys.service import open_keyring
from main_server.retention import service
from main_server.retention.run import Place, foresee, run
from main_server.retention.service import Asker, Subject
from main_server.retention.settings import Limits, RetentionSettings
from main_server.settings import Keys
from main_server.store.database import create_ledger_engine, transact
from main_server.store.tables import lake_manifest, messages, metadata
from tests.acceptance.site import Site, accepted, eventually, post
from tests.factories import BODY

NIGHTS_MAIN = Path(__file__).with_name("nights_main.py")
PATIENCE = 150
SENT = 5
DAY = timedelta(days=1)
KEPT_DAYS = 6
TWICE_AND_WHEN_IT_IS_SEALED = (1, 1, KEPT_DAYS)
DEAD_BY_THEN = (
    "DELETE FROM gatepost_keys.service_keys WHERE purpose = 'sealing' AND retired_at IS NOT NULL"
)
"""Sealing keys that other tests have replaced: main servers have destroyed them that night."""
SECRET = f"{BODY} {uuid4()}"


@pytest.fixture
def config(site: Site, tmp_path: Path) -> Iterator[Path]:
    """As `./dev up` has written it, but for what keeps the test small: no day but today."""
    find_driver()
    tree = yaml.safe_load((site.stack.place.config / "analytics.yaml").read_text())
    tree["lake"]["uri"] = f"file://{tmp_path}/lake"
    tree["days"] = {"watched": 1}
    tree["spark"] |= {"read_partitions": 1, "conf": {"spark.sql.shuffle.partitions": "1"}}
    file = tmp_path / "analytics.yaml"
    file.write_text(yaml.safe_dump(tree))
    _empty(site)
    today, now = datetime.now(UTC).date(), datetime.now(UTC).replace(tzinfo=None)
    others = [today + DAY * n for n in range(-1, KEPT_DAYS) if n]
    rows = [_published(day, now) for day in others]
    transact(site.engine, lambda c: c.execute(insert(lake_manifest), rows))
    yield file
    _empty(site)


@pytest.fixture
def later(site: Site, tmp_path: Path) -> Iterator[Place]:
    """Retention on the night after its last day, with the rights of its own user."""
    settings = load(RetentionSettings, site.stack.place.config / "retention.yaml")
    now = datetime.now(UTC).replace(tzinfo=None) + DAY * (KEPT_DAYS + 1)
    engine = create_ledger_engine(settings.database)
    event.listen(engine, "connect", partial(_set_clock, now=now))
    master = settings.keys.master_key_file
    _execute(site, DEAD_BY_THEN)
    yield Place(
        engine,
        MasterKeys(partial(read_master_keys, master)),
        Keys(master_key_file=master, backup_file=tmp_path / "keys.backup"),
        Limits(wait_minutes=1),
        "shell:test",
        now,
    )
    engine.dispose()
    for table in ("retention_runs", "retention_counts"):  # a later run would doubt the clock
        _execute(site, f"DELETE FROM {table}")


def test_messages_are_reported_sealed_and_gone_and_no_copy_of_them_opens(
    site: Site, config: Path, later: Place
) -> None:
    client_id = f"{uuid4().hex[:8]}.example:sender"
    domain = client_id.partition(":")[0]
    pair = site.issue(Identity(domain, Role.CLIENT, "sender"))
    service.set_days(
        site.engine, Asker("test"), Subject(domain, client_id), KEPT_DAYS, datetime.now(UTC)
    )
    with site.calling(pair.files) as client:
        said = {"sender_number": "+491701234567", "message_body": SECRET}
        sent = [accepted(post(client, json=said)) for _ in range(SENT)]
        site.wait_delivered(*sent)
        others = "UPDATE messages SET status = 'failed', reason = 'discarded'"
        _execute(site, f"{others} WHERE status = 'queued'")  # would keep their day open
        day = day_of(UUID(sent[0]).bytes)
        copy = site.row(sent[0])
        assert copy
        renew_backup(site.engine, later.masters, later.keys)
        assert body_of(site.engine, later.masters, copy) == SECRET

        are_in_the_reports(site, _play(config), day, client_id)
        are_taken_away(site, later, client_id)
        is_gone(site, client, sent[0])
    restore(site.engine, copy)
    try:
        with pytest.raises(CannotOpen, match="destroyed"):
            body_of(site.engine, later.masters, copy)
    finally:
        forget(site.engine, copy)


def are_in_the_reports(
    site: Site, nights: list[list[dict[str, Any]]], day: date, client_id: str
) -> None:
    """Twice the same, and sealed when nothing of the day can change any more."""
    for events, sealed in zip(nights, (False, False, True), strict=True):
        assert [one["event"] for one in events if one["level"] != "info"] == []
        (published,) = [one for one in events if one["event"] == "day.published"]
        assert (published["day"], published["sealed"]) == (str(day), sealed)
        assert events[-1]["rows"] >= nights[0][-1]["rows"]
    hours = _reported(site, day, client_id.partition(":")[0])
    assert {row["client_id"] for row in hours} == {client_id}
    assert sum(row["accepted"] for row in hours) == SENT
    assert sum(row["delivered"] for row in hours) == SENT
    assert sum(row["failed"] + row["waiting"] for row in hours) == 0


def are_taken_away(site: Site, later: Place, client_id: str) -> None:
    (part,) = foresee(later).plan.parts
    assert (part.client_id, part.goes, part.keys_go) == (client_id, SENT, 1)
    done = run(later)
    assert (done.run.state, done.run.row_count, done.run.key_count) == ("done", SENT, 1)
    assert done.proof.left == []
    query = text("SELECT key_id FROM gatepost_keys.data_keys WHERE client_id = :client")
    assert transact(site.engine, lambda c: c.execute(query, {"client": client_id}).all()) == []


def is_gone(site: Site, client: httpx.Client, message_id: str) -> None:
    assert site.row(message_id) is None
    shown = f"/api/v1/messages/{message_id}"
    eventually(lambda: client.get(shown).status_code == 404, "it is gone")


def test_in_development_it_is_ready_as_it_is(site: Site) -> None:
    """Who has an older driver or none gets the one that is named, unpacked, before it is used."""
    settings = load(AnalyticsSettings, site.stack.place.config / "analytics.yaml")
    users = [settings.database.address().username, settings.read_from().address().username]
    assert users == ["gatepost_analytics", "gatepost_lake"]
    assert settings.lake.uri == f"file://{site.stack.place.folder.resolve()}/lake"
    assert settings.spark.jdbc_jar == find_driver()


def _play(config: Path) -> list[list[dict[str, Any]]]:
    """What the nights have said."""
    spark = load(AnalyticsSettings, config).spark
    given = ["--config", str(config), "run"]
    command = submit.command(spark, config.parent, config.parent, given, progress=False)
    environment = submit.environment(Spark(java_home=find_java()), os.environ)
    nights = " ".join(map(str, TWICE_AND_WHEN_IT_IS_SEALED))
    said = subprocess.run(
        [str(NIGHTS_MAIN) if part == str(submit.MAIN) else part for part in command],
        check=False,
        capture_output=True,
        text=True,
        env=environment
        | {"NIGHTS": nights, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        timeout=PATIENCE,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    events = [json.loads(line) for line in said.stdout.splitlines()]
    starts = [n for n, one in enumerate(events) if one["event"] == "run.started"]
    return [events[a:b] for a, b in pairwise([*starts, len(events)])]


def _reported(site: Site, day: date, domain: str) -> list[dict[str, Any]]:
    query = text("SELECT * FROM report_hours WHERE day = :day AND domain = :domain")
    given = {"day": day, "domain": domain}
    return transact(site.engine, lambda c: [dict(r) for r in c.execute(query, given).mappings()])


def _set_clock(connection: Any, _: Any, now: datetime) -> None:
    """What the ledger takes for now on this connection."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET timestamp = {now.replace(tzinfo=UTC).timestamp()}")


def _published(day: date, now: datetime) -> dict[str, Any]:
    """As the pipeline notes a day that no run reads again."""
    times = dict.fromkeys(("first_published_at", "published_at", "sealed_at"), now)
    counts = dict.fromkeys(("row_count", "id_xor", "late_changes"), 0)
    return {"day": day, "run_id": "by-a-test", "schema_version": 1, **counts, **times}


def body_of(engine: Engine, masters: MasterKeys, copy: dict[str, Any]) -> str:
    whose = UUID(bytes=copy["message_id"]), copy["client_id"], copy["domain"]
    ring = open_keyring(engine, masters)
    content = ring.open_row(engine, *whose, copy["key_id"], copy["encrypted_body"])
    return decode_content(content).message_body


def restore(engine: Engine, copy: dict[str, Any]) -> None:
    """As from a dump of the ledger."""
    transact(engine, lambda c: c.execute(insert(messages).values(copy)))


def forget(engine: Engine, copy: dict[str, Any]) -> None:
    statement = messages.delete().where(messages.c.message_id == copy["message_id"])
    transact(engine, lambda c: c.execute(statement))


def _empty(site: Site) -> None:
    for name in metadata.tables:
        if name.startswith(("lake_", "report_")):
            _execute(site, f"DELETE FROM {name}")


def _execute(site: Site, statement: str) -> None:
    transact(site.engine, lambda c: c.execute(text(statement)))
