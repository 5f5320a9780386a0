"""What goes wrong is told, nothing is published by halves, and the next run makes it good."""

import shutil
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import functions as f
from sqlalchemy import create_engine, text

from analytics import lake, nightly
from analytics.check import differences, tally
from analytics.days import ids_of
from analytics.lake import Folder
from analytics.ledger import repository
from analytics.ledger.connection import create_ledger_engine, the_only_run
from analytics.schema import VERSION
from gatepost.cli.failure import Failure
from tests.integration.analytics.conftest import Ledger, Nights
from tests.integration.analytics.days import SEVENTH, Attempt, Message, at, night_after
from tests.integration.analytics.test_nightly import SHORT, folders
from tests.integration.analytics.test_retention import publish

DAY = timedelta(days=1)
LAST_RUN = "gatepost_analytics_nightly_last_run.prom"
LAST_RUN_FAILED = 'gatepost_analytics_last_run_ok{kind="nightly"} 0.0'


def test_a_late_message_meanwhile_is_extracted_as_well(
    nights: Nights, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.put(Message(at(SEVENTH)))
    late = iter([Message(at(SEVENTH, 23))])
    after_each_write(monkeypatch, lambda: ledger.put(*late))
    assert nights.play(night_after(SEVENTH)).row_count == 2
    assert len(nights.messages()[SEVENTH]) == 2
    assert len(nights.log.of("day.disagrees")) == 1


def test_deliveries_meanwhile_fool_nobody(
    nights: Nights, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts by status wouldn't agree; the messages do, and the next night has the new status."""
    waits = Message(at(SEVENTH), "queued")
    ledger.put(waits)
    after_each_write(monkeypatch, lambda: ledger.change(waits, status="delivered"))
    nights.play(night_after(SEVENTH))
    assert nights.log.of("day.disagrees") == []
    assert [row["waiting"] for row in ledger.rows("report_hours")] == [1]


def test_an_unknown_domain_is_a_domain_like_any_other(nights: Nights, ledger: Ledger) -> None:
    """Whose row is no more, or never was: its messages are counted, reported, and told apart."""
    ledger.ask_to(
        "INSERT INTO domains (domain, max_undelivered, created_at) VALUES"
        " ('known.example', 1, '2026-01-01')"
    )
    try:
        ledger.put(Message(at(SEVENTH), domain="known.example"))
        ledger.put(*(Message(at(SEVENTH), domain="unknown.example") for _ in range(2)))
        assert nights.play(night_after(SEVENTH)).row_count == 3
    finally:
        ledger.ask_to("DELETE FROM domains")
    days = {row["domain"]: row["accepted"] for row in ledger.rows("report_days") if row["domain"]}
    assert days == {"known.example": 1, "unknown.example": 2}
    assert len(nights.messages()[SEVENTH]) == 3


def test_what_never_agrees_is_not_published(
    nights: Nights, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a replica that lags behind."""
    after_each_write(monkeypatch, lambda: ledger.put(Message(at(SEVENTH))))
    with pytest.raises(Failure, match=r"example\.com: 2 in the lake, 3 in the ledger") as failure:
        nights.play(night_after(SEVENTH), metrics_folder=str(ledger.folder))
    assert failure.value.kind == "refused"
    told = (ledger.folder / "gatepost_analytics_nightly_last_run.prom").read_text()
    assert 'gatepost_analytics_counts_disagree{kind="nightly"} 1.0' in told
    assert ledger.published() == {}
    (run,) = ledger.rows("lake_runs")
    assert (run["state"], run["reason"]) == ("failed", failure.value.message)


def test_the_same_number_of_other_messages_is_seen(nights: Nights, ledger: Ledger) -> None:
    ours, theirs = Message(at(SEVENTH)), Message(at(SEVENTH))
    ledger.put(ours)
    nights.play(night_after(SEVENTH))
    ledger.drop(ours)
    ledger.put(theirs)
    folder = ledger.published()[SEVENTH]
    written = lake.read(nights.session, ledger.uri, folder, VERSION)
    engine = create_ledger_engine(ledger.settings().database.address())
    with engine.connect() as connection:
        found = repository.tally(connection, ids_of(SEVENTH))
    assert differences(tally(written), found) == ["example.com: as many, but not the same messages"]


def test_without_the_ledger_of_the_rows_nothing_is_published(
    nights: Nights, ledger: Ledger
) -> None:
    away = {"url": "mysql+pymysql://gatepost_lake:none@127.0.0.1:1/gatepost"}
    with pytest.raises(Failure, match="Connection refused") as failure:
        nights.play(night_after(SEVENTH), source=away)
    assert failure.value.kind == "unavailable"
    assert ledger.published() == {}


def test_a_ledger_that_goes_away_half_way(
    nights: Nights, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.put(Message(at(SEVENTH)))
    with monkeypatch.context() as patched:
        after_each_write(patched, lambda: cut_connections(ledger, "gatepost_analytics"))
        with pytest.raises(Failure, match="ledger does not answer") as failure:
            nights.play(night_after(SEVENTH))
    assert failure.value.kind == "unavailable"
    assert ledger.published() == {}
    assert nights.play(night_after(SEVENTH)).state == "done"
    states = [row["state"] for row in ledger.rows("lake_runs")]
    assert sorted(states) == ["done", "failed"]


def test_of_two_runs_at_once_one_is_refused(nights: Nights, ledger: Ledger) -> None:
    engine = create_ledger_engine(ledger.settings().database.address())
    with the_only_run(engine), pytest.raises(Failure, match="Another run") as failure:
        nights.play(night_after(SEVENTH))
    assert failure.value.kind == "unavailable"
    assert ledger.rows("lake_runs") == []


@pytest.mark.parametrize("off", [timedelta(days=-40), timedelta(minutes=6), timedelta(days=3)])
def test_a_clock_that_has_jumped(nights: Nights, ledger: Ledger, off: timedelta) -> None:
    now = night_after(SEVENTH)
    ledger.set_clock(now)
    with pytest.raises(Failure, match="Set the one that is wrong"):
        nights.run("nightly", lambda n, d: nightly.run(n, d, catch_up=True), now + off)
    assert ledger.published() == {}


def test_what_clocks_that_ran_ahead_published_is_not_sealed(nights: Nights, ledger: Ledger) -> None:
    """Both on one machine, say: nobody can see it then, and nothing is lost by it."""
    nights.play(night_after(SEVENTH + DAY * 2), **SHORT)
    ledger.put(*(Message(at(SEVENTH + DAY * n)) for n in range(3)))
    assert nights.play(night_after(SEVENTH + DAY), **SHORT).row_count == 2
    assert nights.play(night_after(SEVENTH + DAY * 2), **SHORT).row_count == 3
    assert {day: len(rows) for day, rows in nights.messages().items()} == {
        SEVENTH + DAY * n: 1 for n in range(3)
    }


def test_a_corrupt_file_is_told_and_the_reports_stay(nights: Nights, ledger: Ledger) -> None:
    ledger.put(Message(at(SEVENTH)))
    now = night_after(SEVENTH)
    nights.play(now)
    reports = ledger.rows("report_hours")
    (file,) = (ledger.folder / "lake" / "messages").rglob("*.parquet")
    checksum = file.with_name(f".{file.name}.crc")
    content = file.read_bytes()
    for wrong in (content[: len(content) // 2], b"PAR1" + bytes(len(content) - 8) + b"PAR1"):
        checksum.unlink(missing_ok=True)
        file.write_bytes(wrong)
        with pytest.raises(Failure, match=r"run=\S+ can't be read") as failure:
            nights.rebuild(SEVENTH, SEVENTH, now)
        assert failure.value.kind == "refused"
        assert ledger.rows("report_hours") == reports
    file.unlink()
    with pytest.raises(Failure, match="has not the 1 messages that it had") as failure:
        nights.rebuild(SEVENTH, SEVENTH, now, metrics_folder=str(ledger.folder))
    assert failure.value.kind == "refused"
    told = (ledger.folder / "gatepost_analytics_rebuild_last_run.prom").read_text()
    assert 'gatepost_analytics_counts_disagree{kind="rebuild"} 1.0' in told
    assert ledger.rows("report_hours") == reports


def test_reports_are_made_again_from_the_lake(nights: Nights, ledger: Ledger) -> None:
    sent = Message(at(SEVENTH))
    ledger.put(sent)
    now = night_after(SEVENTH)
    nights.play(now)
    reports = ledger.rows("report_hours")
    ledger.drop(sent)
    ledger.ask_to("DELETE FROM report_hours")
    run = nights.rebuild(SEVENTH, SEVENTH + DAY, now)
    assert (run.kind, run.state, run.days) == ("rebuild", "done", 1)
    assert ledger.rows("report_hours") == reports
    with pytest.raises(Failure, match="No day") as failure:
        nights.rebuild(SEVENTH + DAY, SEVENTH + DAY, now)
    assert failure.value.kind == "not-found"


@pytest.mark.parametrize("data_set", ["attempts", "senders"])
def test_a_file_that_the_lake_has_lost_is_missed(
    nights: Nights, ledger: Ledger, data_set: str
) -> None:
    """Not only of the messages: fewer senders would be published, and nobody be told."""
    retried = Message(at(SEVENTH), attempts=2)
    ledger.put(retried)
    ledger.note(Attempt(retried, 1, 50))
    now = night_after(SEVENTH)
    nights.play(now)
    reports = ledger.rows("report_senders"), ledger.rows("report_attempt_times")
    for file in (ledger.folder / "lake" / data_set).rglob("*.parquet"):
        file.unlink()
    with pytest.raises(Failure, match=f"/{data_set}/.* has not the 1 rows that it had") as failure:
        nights.rebuild(SEVENTH, SEVENTH, now)
    assert failure.value.kind == "refused"
    assert reports == (ledger.rows("report_senders"), ledger.rows("report_attempt_times"))


def test_reports_made_again_have_a_folder_of_their_own(nights: Nights, ledger: Ledger) -> None:
    """The rows stay where they are, however often; reports that were replaced are removed."""
    ledger.put(Message(at(SEVENTH)))
    first = nights.play(night_after(SEVENTH), **SHORT)
    again = nights.rebuild(SEVENTH, SEVENTH, night_after(SEVENTH, hour=3))
    (day,) = ledger.rows("lake_manifest")
    assert (day["run_id"], day["reports_run_id"]) == (first.run_id, again.run_id)
    nights.play(night_after(SEVENTH + DAY), **SHORT)  # the day is sealed with folders of that run
    last = nights.rebuild(SEVENTH, SEVENTH, night_after(SEVENTH + DAY, hour=3))
    nights.play(night_after(SEVENTH + DAY * 3), **SHORT)
    day = ledger.rows("lake_manifest")[0]
    assert folders(ledger, "reports") == {day["reports_run_id"]} == {last.run_id}
    assert folders(ledger, "messages") == folders(ledger, "senders") == {day["run_id"]}


def test_a_day_of_an_earlier_release_has_neither_attempts_nor_senders(
    nights: Nights, ledger: Ledger
) -> None:
    ledger.put(Message(at(SEVENTH)))
    now = night_after(SEVENTH)
    nights.play(now)
    for data_set in ("attempts", "senders", "reports"):
        shutil.rmtree(ledger.folder / "lake" / data_set)
    with pytest.raises(Failure, match=r"/attempts/.* is not there, though the manifest names it"):
        nights.rebuild(SEVENTH, SEVENTH, now)
    ledger.ask_to(
        "UPDATE lake_manifest SET schema_version = 1, reports_run_id = NULL,"
        " attempt_count = NULL, sender_count = NULL"
    )
    nights.rebuild(SEVENTH, SEVENTH, now)
    assert len(ledger.rows("report_hours")) == 1
    assert ledger.rows("report_senders") == []


def test_a_lake_that_can_not_be_written_to(nights: Nights, ledger: Ledger) -> None:
    with pytest.raises(Failure, match="Spark could not do it") as failure:
        nights.play(night_after(SEVENTH), lake={"uri": "file:///proc/lake"})
    assert failure.value.kind == "fault"
    assert ledger.published() == {}


def test_pages_that_can_not_be_written_keep_nothing_else_waiting(
    nights: Nights, ledger: Ledger
) -> None:
    """What keeps the lake right is done by then, and it is told why the run has failed."""
    publish(ledger, SEVENTH)
    ledger.put(Message(at(SEVENTH)))
    note_nobodys_folder(ledger)
    (ledger.folder / "file").touch()
    with pytest.raises(Failure, match=r"file/.*Not a directory \(reports\.folder\)") as failure:
        nights.play(
            night_after(SEVENTH + DAY),
            reports={"folder": str(ledger.folder / "file" / "reports")},
            metrics_folder=str(ledger.folder),
        )
    assert failure.value.kind == "fault"
    assert list(ledger.published()) == [SEVENTH, SEVENTH + DAY]
    assert ledger.rows("lake_manifest")[0]["late_changes"] == 1
    assert "nobodys" not in {row["run_id"] for row in ledger.rows("lake_folders")}
    (run,) = ledger.rows("lake_runs")
    assert (run["state"], run["reason"]) == ("failed", failure.value.message)
    assert (run["days"], run["late_changes"]) == (1, 1)
    assert LAST_RUN_FAILED in (ledger.folder / LAST_RUN).read_text()


def test_what_was_not_foreseen_is_written_down(nights: Nights, ledger: Ledger) -> None:
    def stumble(*_: object) -> None:
        raise ZeroDivisionError("of something")

    with pytest.raises(ZeroDivisionError):
        nights.run("nightly", stumble, night_after(SEVENTH), metrics_folder=str(ledger.folder))
    (run,) = ledger.rows("lake_runs")
    assert run["state"] == "failed"
    assert run["reason"].startswith("ZeroDivisionError")
    assert run["ended_at"] is not None
    assert [one["reason"] for one in nights.log.of("run.failed")] == [run["reason"]]
    assert LAST_RUN_FAILED in (ledger.folder / LAST_RUN).read_text()


def test_runs_that_keep_failing_do_not_fill_the_lake(nights: Nights, ledger: Ledger) -> None:
    """What others have left goes first, however this one ends."""
    note_nobodys_folder(ledger)
    away = {"url": "mysql+pymysql://gatepost_lake:none@127.0.0.1:1/gatepost"}
    with pytest.raises(Failure, match="Connection refused"):
        nights.play(night_after(SEVENTH), source=away)
    assert [row["day"] for row in ledger.rows("lake_folders")] == [SEVENTH]


def note_nobodys_folder(ledger: Ledger) -> None:
    """As a run has left it that failed a week ago."""
    ledger.ask_to(
        "INSERT INTO lake_folders (day, run_id, kind, begun_at)"
        " VALUES ('2026-09-01', 'nobodys', 'reports', '2026-09-01')"
    )


def test_who_sends_half_of_all_gets_files_of_its_own(nights: Nights, ledger: Ledger) -> None:
    """Large ones are divided, small ones are whole: neither one file for all nor one for each
    part that was read."""
    spark = nights.session
    size = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
    before = spark.conf.get(size)
    rows = spark.range(120_000).select(
        f.unhex(f.sha2(f.col("id").cast("string"), 256)).alias("message_id"),
        f.when(f.col("id") % 40 < 38, "large.example").otherwise("small.example").alias("domain"),
    )
    try:
        spark.conf.set(size, "1m")
        lake.write(rows.repartition(8), ledger.uri, Folder(SEVENTH, "x"))
    finally:
        spark.conf.set(size, before or "")
    folder = ledger.folder / "lake" / "messages" / f"dt={SEVENTH}" / "run=x"
    sizes = {
        name: [file.stat().st_size for file in (folder / f"domain={name}").glob("*.parquet")]
        for name in ("large.example", "small.example")
    }
    assert len(sizes["small.example"]) <= 2
    assert 2 <= len(sizes["large.example"]) <= 8
    assert max(sizes["large.example"]) < 2_000_000


def after_each_write(patched: pytest.MonkeyPatch, then: Any) -> None:
    write = lake.write

    def write_then(*given: Any) -> None:
        write(*given)
        if given[3:] == ():  # of the messages, not of what lies beside them
            then()

    patched.setattr(lake, "write", write_then)


def cut_connections(ledger: Ledger, user: str) -> None:
    root = create_engine(ledger.server.url("root", "mysql"))
    query = text("SELECT id FROM information_schema.processlist WHERE user = :user")
    with root.begin() as connection:
        for (number,) in connection.execute(query, {"user": user}).all():
            connection.execute(text(f"KILL {int(number)}"))
    root.dispose()
