"""The job on a real cluster, a master and two workers as processes of their own: nothing is changed
but settings, and an executor that dies half-way changes nothing of what is left.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from analytics import submit
from analytics.nightly import utc_now
from infra.dev.spark_cluster import SparkCluster
from tests.integration.analytics.conftest import Ledger, Nights
from tests.integration.analytics.days import Message, at
from tests.integration.analytics.test_command import (
    GATEPOST,
    environment_of_spark,
    open_to_others,
    spark,
)
from tests.integration.analytics.test_nightly import everything

PATIENCE = 150.0
DAYS, A_DAY = 2, 300
STILL_SECONDS = 3.0
BOTH = 2


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SparkCluster]:
    with SparkCluster(submit.spark_home(), tmp_path / "cluster", workers=BOTH) as cluster:
        yield cluster


def messages(yesterday: date) -> list[Message]:
    """Of several days and all states; one client has half of them."""
    return [
        Message(
            at(yesterday - timedelta(days=n % DAYS), n % 24, n % 60, n),
            ("delivered", "delivered", "failed", "queued")[n % 4],
            client="client_001" if n % 2 else f"client_{n % 13}",
            domain=f"domain-{n % 3}.example",
            reason="refused" if n % 4 == 2 else None,
            took_ms=n * n,
            attempts=1 + n % 5,
        )
        for n in range(DAYS * A_DAY)
    ]


def test_an_executor_that_is_killed_half_way_changes_nothing(
    cluster: SparkCluster, nights: Nights, ledger: Ledger, tmp_path: Path
) -> None:
    """It stands still until the others can't go on without it, and then it dies: what it was doing
    and what it had kept for others is done again elsewhere."""
    ledger.put(*messages(utc_now().date() - timedelta(days=1)))
    with start(ledger, cluster, tmp_path) as process:
        until(lambda: published(ledger) >= 1 and len(cluster.executors()) == BOTH, process)
        first, _ = cluster.executors()
        os.kill(first, signal.SIGSTOP)
        until(stands_still(ledger), process)
        os.kill(first, signal.SIGKILL)
        said, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaints
    events = [json.loads(line) for line in said.splitlines()]
    assert [one["event"] for one in events if "day" in one] == ["day.published"] * DAYS

    assert open_to_others(ledger.folder / "lake") == []
    on_the_cluster = everything(ledger), nights.messages()
    ledger.empty("lake_", "report_")
    nights.play(utc_now())
    assert without_times(on_the_cluster) == without_times((everything(ledger), nights.messages()))


def start(ledger: Ledger, cluster: SparkCluster, tmp_path: Path) -> "subprocess.Popen[str]":
    given = spark()
    conf = {"spark.executor.memory": "600m", "spark.sql.shuffle.partitions": "4"}
    tree: dict[str, Any] = {
        "environment": "development",
        "database": {"url": ledger.server.url("gatepost_analytics")},
        "source": {"url": ledger.server.url("gatepost_lake")},
        "lake": {"uri": ledger.uri},
        "spark": {
            **given,
            "master": cluster.url,
            "read_partitions": 4,
            "conf": given["conf"] | cluster.conf | conf,
        },
    }
    file = tmp_path / "analytics.yaml"
    file.write_text(yaml.safe_dump(tree))
    command = [str(GATEPOST), "analytics", "run", "--config", str(file)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment_of_spark() | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )


def until(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and not condition():
        if time.monotonic() > deadline:
            process.terminate()
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


def published(ledger: Ledger) -> int:
    return len(ledger.rows("lake_manifest"))


def stands_still(ledger: Ledger) -> Callable[[], bool]:
    """Whether nothing was published for a while, which takes a fraction of that otherwise."""
    seen, since = published(ledger), time.monotonic()

    def look() -> bool:
        nonlocal seen, since
        if (now := published(ledger)) != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > STILL_SECONDS

    return look


def without_times(found: Any) -> Any:
    left, rows = found
    manifest = [{**row, "first_published_at": None} for row in left["lake_manifest"]]
    return {**left, "lake_manifest": manifest}, rows
