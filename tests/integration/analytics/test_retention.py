"""The lake's own retention: longer than the ledger's, and its reports' longer still."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Connection

from analytics.ledger.connection import create_ledger_engine
from analytics.retention.lake import demand_kept_long_enough, take_away
from gatepost.cli.failure import Failure
from gatepost.errors import ConfigurationError
from tests.integration.analytics.conftest import Heard, Ledger, Nights
from tests.integration.analytics.days import SEVENTH, night_after

LATER = night_after(SEVENTH + timedelta(days=400))
"""The night in which the seventh is 400 days over."""


class Kept:
    """The seventh in the lake, as two runs have left it, with a row of its reports."""

    def __init__(self, session: SparkSession, ledger: Ledger, connection: Connection) -> None:
        self._session, self._ledger, self._connection = session, ledger, connection
        self.folder = ledger.folder / "lake" / "messages" / f"dt={SEVENTH}"
        for run in ("first", "second"):
            part = self.folder / f"run={run}" / "domain=example.com"
            part.mkdir(parents=True)
            (part / "part-0.parquet").write_bytes(b"x")
            ledger.ask_to(
                "INSERT INTO lake_folders (day, run_id, kind, begun_at)"
                f" VALUES ('{SEVENTH}', '{run}', 'messages', '{SEVENTH}')"
            )
        publish(ledger, SEVENTH)
        ledger.ask_to(
            "INSERT INTO report_failures VALUES"
            f" ('{SEVENTH}', 1, 'example.com', 'example.com:a', 'refused', 1)"
        )

    def take_away(self, days_earlier: int = 0) -> list[Path]:
        """What is left of it."""
        now = LATER - timedelta(days=days_earlier)
        take_away(self._session, self._connection, self._ledger.settings(), Heard(), now)
        return [one for one in self.folder.rglob("*") if one.is_file()]

    @property
    def manifest(self) -> dict[str, Any]:
        (row,) = [one for one in self._ledger.rows("lake_manifest") if one["day"] == SEVENTH]
        return row


def publish(ledger: Ledger, day: date) -> None:
    """A day that is sealed."""
    ledger.ask_to(
        "INSERT INTO lake_manifest (day, run_id, schema_version, row_count, id_xor,"
        " first_published_at, published_at, sealed_at, late_changes)"
        f" VALUES ('{day}', 'second', 1, 1, 0, '{day}', '{day}', '{day}', 0)"
    )


@pytest.fixture
def connection(ledger: Ledger) -> Iterator[Connection]:
    """As the user who publishes."""
    engine = create_ledger_engine(ledger.settings().database.address())
    ledger.ask_to("UPDATE retention_state SET lake_days = 400, report_days = 1830")
    with engine.connect() as connection:
        yield connection
    engine.dispose()
    ledger.ask_to("DELETE FROM domains")


@pytest.fixture
def kept(spark: SparkSession, ledger: Ledger, connection: Connection) -> Kept:
    return Kept(spark, ledger, connection)


def keep_for(ledger: Ledger, days: int) -> None:
    ledger.ask_to(
        "INSERT INTO domains (domain, max_undelivered, created_at, retention_days)"
        f" VALUES ('other.example', 1, '2026-01-01', {days})"
    )


def test_a_day_leaves_the_lake_when_its_time_has_come(kept: Kept, ledger: Ledger) -> None:
    assert len(kept.take_away(days_earlier=1)) == 2
    for _ in range(2):
        assert kept.take_away() == []
    assert kept.manifest["removed_at"] == LATER
    assert kept.manifest["sealed_at"]
    assert ledger.rows("lake_folders") == []
    assert ledger.rows("report_failures")


def test_it_waits_for_what_the_ledger_keeps_for_longer(kept: Kept, ledger: Ledger) -> None:
    keep_for(ledger, 500)
    assert len(kept.take_away()) == 2
    assert kept.manifest["removed_at"] is None


def test_reports_go_when_their_own_time_has_come(kept: Kept, ledger: Ledger) -> None:
    ledger.ask_to("UPDATE retention_state SET report_days = 400")
    kept.take_away()
    assert ledger.rows("report_failures") == []


def test_clients_go_when_the_last_day_that_they_were_heard_on_does(
    kept: Kept, ledger: Ledger
) -> None:
    ledger.ask_to("UPDATE retention_state SET report_days = 400")
    for name, last in (("silent", SEVENTH), ("heard", SEVENTH + timedelta(days=1))):
        ledger.ask_to(
            "INSERT INTO report_clients (domain, client_id, first_day, last_day)"
            f" VALUES ('example.com', 'example.com:{name}', '2020-01-01', '{last}')"
        )
    kept.take_away()
    assert [row["client_id"] for row in ledger.rows("report_clients")] == ["example.com:heard"]


@pytest.mark.parametrize("step", ["lake.remove", "repository.forget_folder"])
def test_killed_while_it_removes_it_does_the_rest(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException):
        """Nothing but the end of the process."""

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(f"analytics.retention.lake.{step}", die)
        with pytest.raises(Killed):
            kept.take_away()
    assert kept.manifest["removed_at"] is None
    assert kept.take_away() == []
    assert kept.manifest["removed_at"] == LATER


def test_a_ledger_that_keeps_too_little_is_refused(ledger: Ledger, connection: Connection) -> None:
    demand_kept_long_enough(connection, 5)
    keep_for(ledger, 5)
    with pytest.raises(ConfigurationError, match="for 5 days, below 6"):
        demand_kept_long_enough(connection, 5)


def test_a_night_does_both(nights: Nights, kept: Kept, ledger: Ledger) -> None:
    publish(ledger, LATER.date() - timedelta(days=2))  # so that one day is due, and not 400
    assert nights.play(LATER, days={"watched": 1}).days == 1
    assert kept.manifest["removed_at"] == LATER
    with pytest.raises(Failure, match="past the lake's own time"):
        nights.rebuild(SEVENTH, SEVENTH, LATER)
    keep_for(ledger, 5)
    with pytest.raises(Failure, match="below 6") as failure:
        nights.play(LATER)
    assert failure.value.kind == "usage"
