"""A night's run, and the nights after it."""

from datetime import timedelta
from typing import Any

import pytest

from analytics import lake, nightly
from analytics.reports.day import REPORTS
from gatepost.cli.failure import Failure
from gatepost.reports.sketch import estimate
from main_server.store.tables import metadata
from tests.integration.analytics.conftest import Ledger, Nights
from tests.integration.analytics.days import SEVENTH, Attempt, Message, at, night_after

DAY = timedelta(days=1)
SHORT: dict[str, Any] = {"days": {"extracted_again": 2, "max_lifetime_hours": 24, "at_once": 4}}
"""Sealed after two nights, so that few need to be played."""


def test_a_day_is_published_with_its_reports(nights: Nights, ledger: Ledger) -> None:
    ledger.put(
        Message(at(SEVENTH, 9), attempts=3),
        Message(at(SEVENTH, 9), "failed", attempts=2, reason="refused"),
        Message(at(SEVENTH, 10), client="client_002"),
        Message(at(SEVENTH, 23, 59), domain="other.example", status="queued", attempts=0),
    )
    run = nights.play(night_after(SEVENTH))
    assert (run.state, run.days, run.row_count) == ("done", 1, 4)
    (day,) = ledger.rows("lake_manifest")
    assert (day["day"], day["row_count"], day["sealed_at"]) == (SEVENTH, 4, None)
    assert len(nights.messages()[SEVENTH]) == 4
    hours = [
        (r["hour"], r["client_id"], r["accepted"], r["delivered"], r["failed"], r["retries"])
        for r in ledger.rows("report_hours")
    ]
    assert hours == [
        (9, "example.com:client_001", 2, 1, 1, 3),
        (10, "example.com:client_002", 1, 1, 0, 0),
        (23, "other.example:client_001", 1, 0, 0, 0),
    ]
    assert [(r["reason"], r["failed"]) for r in ledger.rows("report_failures")] == [("refused", 1)]
    assert sum(r["delivered"] for r in ledger.rows("report_delivery_times")) == 2


def test_all_reports_are_tables_and_files_that_say_the_same(nights: Nights, ledger: Ledger) -> None:
    late = Message(at(SEVENTH, 9), "failed", attempts=2, reason="refused", sender="+1")
    ledger.put(late, Message(at(SEVENTH, 9), sender="+1"), Message(at(SEVENTH, 10), sender="+2"))
    ledger.note(Attempt(late, 1, 50), Attempt(late, 2, 30_100, outcome="failed"))
    run = nights.play(night_after(SEVENTH))
    (day,) = ledger.rows("lake_manifest")
    assert (day["reports_run_id"], day["attempt_count"], day["sender_count"]) == (run.run_id, 2, 2)
    for report, _ in REPORTS:
        path = f"{ledger.uri}/reports/dt={SEVENTH}/run={run.run_id}/report={report.name}"
        columns = [*report.keys, *report.values]
        files = [
            [bytes(value) if isinstance(value, bytearray) else value for value in row]
            for row in nights.session.read.parquet(path).select(columns).collect()
        ]
        table = [[row[name] for name in columns] for row in ledger.rows(report.table)]
        assert table != []
        assert sorted(files, key=str) == sorted(table, key=str)
    whole, of_client = ledger.rows("report_senders")
    assert (whole["client_id"], of_client["client_id"]) == ("", "example.com:client_001")
    assert estimate(whole["sketch"]) == estimate(of_client["sketch"]) == 2


def test_clients_are_known_from_their_first_day_to_their_last(
    nights: Nights, ledger: Ledger
) -> None:
    ledger.put(*(Message(at(SEVENTH + DAY * n), client="always") for n in range(2)))
    ledger.put(Message(at(SEVENTH + DAY), client="new"))
    nights.play(night_after(SEVENTH + DAY))
    nights.rebuild(SEVENTH, SEVENTH, night_after(SEVENTH + DAY))  # an earlier day takes none away
    assert [tuple(row.values()) for row in ledger.rows("report_clients")] == [
        ("example.com", "example.com:always", SEVENTH, SEVENTH + DAY),
        ("example.com", "example.com:new", SEVENTH + DAY, SEVENTH + DAY),
    ]


def test_the_lake_is_laid_out_by_day_run_and_domain(nights: Nights, ledger: Ledger) -> None:
    ledger.put(Message(at(SEVENTH)), Message(at(SEVENTH), domain="other.example"))
    run = nights.play(night_after(SEVENTH))
    folder = ledger.folder / "lake" / "messages" / f"dt={SEVENTH}" / f"run={run.run_id}"
    files = [file.relative_to(folder) for file in folder.rglob("*.parquet")]
    assert sorted(str(file.parent) for file in files) == [
        "domain=example.com",
        "domain=other.example",
    ]


def test_run_again_it_leaves_the_same(nights: Nights, ledger: Ledger) -> None:
    ledger.put(*(Message(at(SEVENTH, hour)) for hour in range(24)))
    nights.play(night_after(SEVENTH))
    before, rows = everything(ledger), nights.messages()
    nights.play(night_after(SEVENTH) + timedelta(hours=1))
    assert everything(ledger) == before
    assert nights.messages() == rows


def test_the_last_days_are_extracted_again_and_then_sealed(nights: Nights, ledger: Ledger) -> None:
    waits = Message(at(SEVENTH), "queued", attempts=1)
    ledger.put(waits)
    nights.play(night_after(SEVENTH))
    ledger.change(waits, status="failed", reason="expired", attempt_count=400)
    for n in range(1, 4):
        nights.play(night_after(SEVENTH + DAY * n))
        assert not sealed(ledger)
    assert ledger.rows("report_failures")[0]["reason"] == "expired"
    nights.play(night_after(SEVENTH + DAY * 4))
    assert sealed(ledger) == [SEVENTH]
    run_id = ledger.published()[SEVENTH].run_id
    assert nights.play(night_after(SEVENTH + DAY * 4, hour=5)).days == 4
    assert ledger.published()[SEVENTH].run_id == run_id


def test_a_day_with_a_message_that_waits_is_not_sealed(nights: Nights, ledger: Ledger) -> None:
    """As when both stores were away: its end is still to come."""
    stuck = Message(at(SEVENTH), "queued")
    ledger.put(stuck)
    nights.play(night_after(SEVENTH), **SHORT)
    nights.play(night_after(SEVENTH + DAY * 2), **SHORT)
    assert SEVENTH not in sealed(ledger)
    assert [one["waiting"] for one in nights.log.of("day.not_sealed")] == [1]
    ledger.change(stuck, status="failed", reason="expired")
    nights.play(night_after(SEVENTH + DAY * 2, hour=5), **SHORT)
    assert sealed(ledger) == [SEVENTH]


def test_what_changes_after_that_is_counted(nights: Nights, ledger: Ledger) -> None:
    failed = Message(at(SEVENTH), "failed", reason="refused")
    ledger.put(failed, Message(at(SEVENTH)))
    nights.play(night_after(SEVENTH), **SHORT)
    nights.play(night_after(SEVENTH + DAY), **SHORT)
    assert sealed(ledger) == [SEVENTH]
    ledger.change(failed, status="delivered", reason=None)
    ledger.put(Message(at(SEVENTH), "failed", reason="expired", domain="late.example"))
    for hour in (4, 6):
        assert nights.play(night_after(SEVENTH + DAY, hour), **SHORT).late_changes == 2
        assert ledger.rows("lake_manifest")[0]["late_changes"] == 2
    ledger.drop(failed)  # as retention will: it had changed all the same
    assert nights.play(night_after(SEVENTH + DAY, hour=8), **SHORT).late_changes == 2
    assert len(nights.messages()[SEVENTH]) == 2


def test_what_is_taken_away_hides_no_change(nights: Nights, ledger: Ledger) -> None:
    """Of one client retention has taken all before another's message changes: both had as many."""
    failed = Message(at(SEVENTH), "failed", reason="refused", client="kept_long")
    gone = Message(at(SEVENTH), client="kept_short")
    ledger.put(failed, gone)
    nights.play(night_after(SEVENTH), **SHORT)
    nights.play(night_after(SEVENTH + DAY), **SHORT)
    ledger.drop(gone)
    ledger.change(failed, status="delivered", reason=None)
    assert nights.play(night_after(SEVENTH + DAY, hour=5), **SHORT).late_changes == 1


def test_a_day_is_open_for_as_many_nights_as_is_set(nights: Nights, ledger: Ledger) -> None:
    """However short messages live."""
    longer: dict[str, Any] = {"days": {"extracted_again": 3, "max_lifetime_hours": 24}}
    ledger.put(Message(at(SEVENTH)))
    for number in range(2):
        nights.play(night_after(SEVENTH + DAY * number), **longer)
        assert not sealed(ledger)
    nights.play(night_after(SEVENTH + DAY * 2), **longer)
    assert sealed(ledger) == [SEVENTH]


def test_a_gateway_without_messages_has_days_of_none(nights: Nights, ledger: Ledger) -> None:
    run = nights.play(night_after(SEVENTH))
    assert (run.state, run.days, run.row_count) == ("done", 1, 0)
    assert nights.messages() == {SEVENTH: []}
    assert ledger.rows("report_hours") == []


def test_nights_that_were_missed_are_made_up_for(nights: Nights, ledger: Ledger) -> None:
    ledger.put(Message(at(SEVENTH)), Message(at(SEVENTH + DAY * 2)))
    run = nights.play(night_after(SEVENTH + DAY * 2), **SHORT)
    assert (run.days, run.row_count) == (3, 2)
    assert list(ledger.published()) == [SEVENTH, SEVENTH + DAY, SEVENTH + DAY * 2]
    assert not sealed(ledger)  # what was never seen before is seen once more


def test_more_days_than_a_clock_can_be_believed_are_refused(nights: Nights, ledger: Ledger) -> None:
    ledger.put(Message(at(SEVENTH)))
    limit: dict[str, Any] = {"days": {"at_once": 1}}
    with pytest.raises(Failure, match=r"2 days are due.*--catch-up") as failure:
        nights.play(night_after(SEVENTH + DAY), **limit)
    assert failure.value.kind == "refused"
    assert ledger.published() == {}
    assert nights.play(night_after(SEVENTH + DAY), catch_up=True, **limit).days == 2


class SaysNo:
    """A file system that removes nothing, as one does where we have no right to."""

    def delete(self, *_: object) -> bool:
        return False

    def exists(self, *_: object) -> bool:
        return True


def test_folders_that_nobody_needs_are_removed_a_day_later(
    nights: Nights, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.put(Message(at(SEVENTH)))
    first = nights.play(night_after(SEVENTH))
    second = nights.play(night_after(SEVENTH + DAY, hour=3))
    everywhere = ("messages", "attempts", "senders", "reports")
    for data_set in everywhere:
        assert folders(ledger, data_set) == {first.run_id, second.run_id}
    third_night = night_after(SEVENTH + DAY * 2, hour=4)
    with monkeypatch.context() as stubborn:
        locate = lake._locate
        stubborn.setattr(lake, "_locate", lambda *given: (locate(*given)[0], SaysNo()))
        nights.run("nightly", lambda night, _: nightly.collect(night), third_night)
    assert folders(ledger, "messages") == {first.run_id, second.run_id}
    assert nights.log.of("folder.not_removed") != []
    third = nights.play(third_night)
    for data_set in everywhere:
        assert folders(ledger, data_set) == {second.run_id, third.run_id}, "it was not forgotten"


def test_the_lake_need_not_be_a_folder_here(nights: Nights, ledger: Ledger) -> None:
    """There's no cluster of HDFS here. Hadoop's own view by that scheme is of a folder instead:
    what the job asks for, it asks of that file system, and by the URI."""
    (ledger.folder / "lake").mkdir()
    mounted = nights.session.sparkContext._jsc.hadoopConfiguration()
    mounted.set("fs.hdfs.impl", "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme")
    mounted.set("fs.viewfs.mounttable.company.link./gatepost", ledger.uri)
    elsewhere: dict[str, Any] = {"lake": {"uri": "hdfs://company/gatepost"}}
    ledger.put(Message(at(SEVENTH)), Message(at(SEVENTH), domain="other.example"))
    nights.play(night_after(SEVENTH), **elsewhere)
    rebuilt = nights.rebuild(SEVENTH, SEVENTH, night_after(SEVENTH), **elsewhere)
    second = nights.play(night_after(SEVENTH + DAY), **elsewhere)
    third = nights.play(night_after(SEVENTH + DAY * 2, hour=4), **elsewhere)
    assert (rebuilt.row_count, second.row_count, third.row_count) == (2, 2, 2)
    for data_set in ("messages", "reports"):
        assert folders(ledger, data_set) == {second.run_id, third.run_id}, "of others nobody knows"


def test_a_file_system_that_spark_has_not_is_told_at_once(nights: Nights, ledger: Ledger) -> None:
    """For S3 it wants libraries that don't come with it."""
    ledger.put(Message(at(SEVENTH)))
    with pytest.raises(Failure, match=r"lake\.uri: .* s3a://.*S3AFileSystem") as failed:
        nights.play(night_after(SEVENTH), lake={"uri": "s3a://company/gatepost"})
    assert failed.value.kind == "usage"
    (run,) = ledger.rows("lake_runs")
    assert (run["state"], run["reason"]) == ("failed", failed.value.message)
    assert ledger.rows("lake_folders") == []


def folders(ledger: Ledger, data_set: str) -> set[str]:
    place = ledger.folder / "lake" / data_set / f"dt={SEVENTH}"
    return {one.name.removeprefix("run=") for one in place.iterdir()}


def sealed(ledger: Ledger) -> list[object]:
    return [row["day"] for row in ledger.rows("lake_manifest") if row["sealed_at"]]


def everything(ledger: Ledger) -> dict[str, object]:
    """All that the pipeline leaves in the ledger, but for run ids and times."""
    tables = (
        "messages",
        *(name for name in metadata.tables if name[:7] == "report_"),
    )
    of_the_run = {"run_id": None, "published_at": None, "reports_run_id": None}
    manifest = [
        {**row, **of_the_run, "sealed_at": bool(row["sealed_at"])}
        for row in ledger.rows("lake_manifest")
    ]
    return {"lake_manifest": manifest, **{name: ledger.rows(name) for name in tables}}
