"""What is concluded from a day's reports, in the transaction that publishes the day."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from analytics import pages
from analytics.insight import repository
from analytics.insight.conclude import conclude
from analytics.ledger.connection import create_ledger_engine
from analytics.reports.day import REPORTS
from analytics.settings import Aims, Capacity, Targets
from gatepost.insight.figures import COUNTS
from gatepost.insight.repository import Asked
from gatepost.insight.view import read_reports
from gatepost.reports import repository as reports
from gatepost.reports.repository import Scope
from main_server.store.database import transact
from main_server.store.tables import metadata
from tests.integration.analytics.conftest import Heard, Ledger, Nights
from tests.integration.analytics.days import SEVENTH, Attempt, Message, at, night_after

DAY = timedelta(days=1)
Reports = dict[str, list[dict[str, Any]]]
"""The rows of a day, by the names of their tables."""
SLOW = "7.7 min"
"""What the slow ones took."""
AIMS = Aims(Targets(), Capacity(messages_per_second=2, ledger_gigabytes=10), 30)


class Days:
    """Publishes days whose reports are made up, without Spark."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.engine = create_ledger_engine(ledger.settings().database.address())

    def put(self, day: date, *clients: tuple[str, int], failed: int = 0, slow: int = 0) -> None:
        """Each client by its id and how many it sent."""
        with self.engine.begin() as connection:
            connection.execute(insert(metadata.tables["lake_manifest"]), _manifest(day))
        self.conclude(day, _reports(day, clients, failed, slow), night_after(day))

    def rebuild(self, day: date, now: datetime, *clients: tuple[str, int]) -> None:
        self.conclude(day, _reports(day, clients), now)

    def conclude(self, day: date, found: Reports, now: datetime) -> None:
        with self.engine.begin() as connection:
            conclude(connection, day, found, AIMS, now)

    def weeks(self, number: int, *clients: tuple[str, int], until: date = SEVENTH) -> None:
        for n in range(number * 7, 0, -1):
            self.put(until - DAY * n, *clients)


def _reports(
    day: date, clients: Sequence[tuple[str, int]], failed: int = 0, slow: int = 0
) -> Reports:
    found: Reports = {report.table: [] for report, _ in REPORTS}
    for client, accepted in clients:
        key = {"day": day, "hour": 9, "domain": client.partition(":")[0], "client_id": client}
        counts = dict.fromkeys(("erased", "duplicates", "waiting", "retries"), 0)
        delivered = {"accepted": accepted, "delivered": accepted - failed, "failed": failed}
        found["report_hours"].append(key | counts | delivered)
        for bucket, number in ((50, accepted - failed - slow), (150, slow)):
            times = {"bucket": bucket, "delivered": number}
            found["report_delivery_times"].append(key | times)
        ended = {"bucket": 8, "delivered": accepted - failed, "failed": failed}
        found["report_attempts"].append(key | ended)
        if failed:
            found["report_failures"].append(key | {"reason": "refused", "failed": failed})
    return found


def _manifest(day: date) -> dict[str, Any]:
    times = dict.fromkeys(("first_published_at", "published_at"), datetime(2026, 9, 8))
    rest = {"row_count": 0, "id_xor": 0, "late_changes": 0, "schema_version": 1, "sealed_at": None}
    return {"day": day, "run_id": "r", **times, **rest}


@pytest.fixture
def days(ledger: Ledger) -> Days:
    return Days(ledger)


def test_a_night_adds_its_day_up_for_clients_domains_and_all(
    nights: Nights, ledger: Ledger
) -> None:
    refused = Message(at(SEVENTH, 9), "failed", attempts=2, reason="refused")
    ledger.put(
        refused,
        Message(at(SEVENTH, 9), took_ms=100),
        Message(at(SEVENTH, 10), client="b", took_ms=90_000),
        Message(at(SEVENTH, 23), domain="other.example", status="queued", attempts=0),
    )
    ledger.note(Attempt(refused, 1, 400), Attempt(refused, 2, 30_420, 50, "failed"))
    nights.play(night_after(SEVENTH))
    rows = {(r["domain"], r["client_id"]): r for r in ledger.rows("report_days")}
    assert {key: row["accepted"] for key, row in rows.items()} == {
        ("", ""): 4,
        ("example.com", ""): 3,
        ("example.com", "example.com:b"): 1,
        ("example.com", "example.com:client_001"): 2,
        ("other.example", ""): 1,
        ("other.example", "other.example:client_001"): 1,
    }
    spread = json.loads(rows["example.com", ""]["spread"])
    assert spread["hours"] == {"9": [2, 1, 1], "10": [1, 1, 0]}
    assert spread["reasons"] == {"refused": 1}
    assert _as_tables_have_it(ledger, "example.com") == spread["tries"]
    assert [sum(one.values()) for one in spread["tries"].values()] == [3, 1, 2, 1, 2]
    assert rows["example.com", "example.com:b"]["p95_ms"] == pytest.approx(90_000, rel=0.045)
    attained = {(r["domain"], r["objective"]): r for r in ledger.rows("report_attainment")}
    of_all = attained["", "delivery"]
    assert (of_all["good"], of_all["total"], of_all["target_ms"]) == (1, 4, 60_000)
    assert attained["", "acceptance"]["total"] == 0
    before = ledger.rows("report_days")
    nights.rebuild(SEVENTH, SEVENTH, night_after(SEVENTH, hour=5))
    assert ledger.rows("report_days") == before


def _as_tables_have_it(ledger: Ledger, domain: str) -> dict[str, dict[str, int]]:
    scope = Scope(SEVENTH, SEVENTH, domain)
    with ledger.engine.connect() as connection:
        counts = {
            "first": reports.queue_times(connection, scope, "first"),
            "again": reports.queue_times(connection, scope, "again"),
            "took": reports.attempt_times(connection, scope),
        }
        rows = [row for row in ledger.rows("report_attempts") if row["domain"] == domain]
    found = {
        name: {str(bucket): n for bucket, n in one[()].items()} for name, one in counts.items()
    }
    for name in ("delivered", "failed"):
        ended = Counter[str]()
        for row in rows:
            ended[str(row["bucket"])] += row[name]
        found[name] = dict(+ended)
    return found


def test_a_client_that_falls_silent_is_told_of(days: Days, ledger: Ledger) -> None:
    days.weeks(4, ("a.example:x", 900), ("a.example:y", 300))
    assert ledger.rows("report_anomalies") == []
    days.put(SEVENTH, ("a.example:y", 300))
    found = {(r["domain"], r["client_id"]): r for r in ledger.rows("report_anomalies")}
    silent = found["a.example", "a.example:x"]
    assert silent["words"] == (
        "client a.example:x sent 0 messages on a Monday, where 900 ± 45 are usual"
    )
    assert found.keys() == {("", ""), ("a.example", ""), ("a.example", "a.example:x")}


def test_a_new_client_and_days_without_a_run_raise_no_alarm(days: Days, ledger: Ledger) -> None:
    """What wasn't published is not nothing."""
    days.weeks(1, ("a.example:x", 900), until=SEVENTH - DAY * 14)
    days.weeks(1, ("a.example:x", 900), ("a.example:new", 5_000))
    days.put(SEVENTH, ("a.example:x", 900), ("a.example:new", 50))
    assert ledger.rows("report_anomalies") == []


def test_what_is_foreseen_of_growth(days: Days, ledger: Ledger) -> None:
    for n in range(56, 0, -1):
        days.put(SEVENTH - DAY * n, ("a.example:x", 3_000 + (56 - n) * 20))
    (rate,) = _latest(ledger, "", "rate")
    assert rate["at_present"] == pytest.approx(4_100 / 3600, rel=0.02)
    likely = SEVENTH - DAY + DAY * ((7_200 - 4_100) // 20)
    assert abs((rate["expected"] - likely).days) <= 5
    assert rate["earliest"] <= rate["expected"] <= rate["latest"]
    assert "2 messages a second" in rate["words"]
    (volume,) = _latest(ledger, "a.example", "volume")
    assert volume["a_week"] == pytest.approx(140, rel=0.02)
    (size,) = _latest(ledger, "", "size")
    assert "can't be foreseen yet" in size["words"], "nobody knows how large a message is"
    assert _latest(ledger, "a.example", "rate") == []


def _latest(ledger: Ledger, domain: str, target: str) -> list[dict[str, Any]]:
    rows = [r for r in ledger.rows("report_forecasts") if r["day"] == SEVENTH - DAY]
    return [r for r in rows if (r["domain"], r["target"]) == (domain, target)]


def test_how_long_answers_took_is_taken_from_what_processes_said(
    days: Days, ledger: Ledger, answered: Callable[..., None]
) -> None:
    """Totals since their start: of the day is what came on top, of a new process all of it."""
    begin = datetime(2026, 9, 7)
    rows = [
        _answers(begin - timedelta(hours=1), "a", 1_000, 900),
        _answers(begin + timedelta(hours=3), "a", 1_400, 1_299),
        _answers(begin + timedelta(hours=4), "b", 100, 50),
        _answers(begin + timedelta(hours=24), "a", 9_000, 9_000),
    ]
    answered(*rows)
    days.put(SEVENTH, ("a.example:x", 5))
    assert _acceptance(ledger) == (399 + 50, 400 + 100)


@pytest.fixture
def answered(ledger: Ledger) -> Iterator[Callable[..., None]]:
    """Has main servers note what was said of answers."""

    def note(*rows: dict[str, Any]) -> None:
        table = metadata.tables["answer_times"]
        transact(ledger.engine, lambda c: c.execute(insert(table), rows))

    yield note
    ledger.empty("answer_times")


def _acceptance(ledger: Ledger) -> tuple[int, int]:
    (found,) = [r for r in ledger.rows("report_attainment") if r["objective"] == "acceptance"]
    return found["good"], found["total"]


def test_a_day_keeps_what_was_said_of_its_answers_when_these_are_forgotten(
    days: Days, ledger: Ledger, answered: Callable[..., None]
) -> None:
    """Without what a process had answered before the day, all since its start would be the day's;
    without the day itself, nothing."""
    begin, sent = datetime(2026, 9, 7), ("a.example:x", 5)
    answered(
        _answers(begin - timedelta(hours=1), "a", 1_000, 900),
        _answers(begin + timedelta(hours=3), "a", 1_400, 1_299),
    )
    days.put(SEVENTH, sent)
    days.rebuild(SEVENTH, begin + DAY * 80, sent)
    assert _acceptance(ledger) == (399, 400)
    ledger.ask_to("DELETE FROM answer_times WHERE hour < '2026-09-07'")
    days.rebuild(SEVENTH, begin + DAY * 84, sent)
    assert _acceptance(ledger) == (399, 400)
    ledger.ask_to("DELETE FROM answer_times")
    days.rebuild(SEVENTH, begin + DAY * 200, sent)
    assert _acceptance(ledger) == (399, 400)
    delivery = [r for r in ledger.rows("report_attainment") if r["objective"] == "delivery"]
    assert [(r["domain"], r["total"]) for r in delivery] == [("", 5), ("a.example", 5)]


def test_a_day_that_is_first_published_too_late_says_nothing_of_answers(
    days: Days, ledger: Ledger, answered: Callable[..., None]
) -> None:
    answered(_answers(datetime(2026, 9, 7, 3), "a", 1_400, 1_299))
    days.rebuild(SEVENTH, datetime(2026, 12, 1), ("a.example:x", 5))
    assert {r["objective"] for r in ledger.rows("report_attainment")} == {"delivery"}


def test_what_was_foreseen_on_a_day_stays_when_it_is_published_again(
    days: Days, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went by how large the ledger was on that night, which nobody knows later (I13)."""
    monkeypatch.setattr(repository, "bytes_each", lambda _: 1_000.0)
    days.weeks(3, ("a.example:x", 3_000))
    before = ledger.rows("report_forecasts")
    assert "1,000 bytes each" in _latest(ledger, "", "size")[0]["words"]
    monkeypatch.setattr(repository, "bytes_each", lambda _: 2_000.0)
    days.rebuild(SEVENTH - DAY, datetime(2026, 10, 1), ("a.example:x", 3_000))
    assert ledger.rows("report_forecasts") == before


def test_days_on_which_nothing_was_sent_count_in_what_is_foreseen(
    days: Days, ledger: Ledger
) -> None:
    """As nothing; and who has sent nothing for five weeks, of them nothing is foreseen."""
    for n in range(56, 0, -1):
        day = SEVENTH - DAY * n
        office = [("office.example:x", 700)] if day.weekday() < 5 else []
        quiet = [("quiet.example:x", 900)] if n > 35 else []
        days.put(day, ("daily.example:x", 100), *office, *quiet)
    assert _latest(ledger, "office.example", "volume")[0]["at_present"] == pytest.approx(500)
    assert _latest(ledger, "daily.example", "volume")[0]["at_present"] == pytest.approx(100)
    assert _latest(ledger, "quiet.example", "volume") == []
    with days.engine.connect() as connection:
        found = read_reports(connection, Asked(SEVENTH - DAY, SEVENTH - DAY, "quiet.example"))
        before = Asked(SEVENTH - DAY * 36, SEVENTH - DAY * 36, "quiet.example")
        early = read_reports(connection, before)
    assert found.foreseen == []
    assert [one.target for one in early.foreseen] == ["volume"], "when it wasn't quiet yet"


def _answers(hour: datetime, process: str, answered: int, quick: int) -> dict[str, Any]:
    bounds = json.dumps({"1": 0, "50": quick - 10, "100": quick, "250": answered})
    counts = {"answered": answered, "accepted": answered, "within_ms": bounds}
    return {"hour": hour, "process": process, **counts}


def test_reports_are_read_for_all_a_domain_or_a_client(days: Days, ledger: Ledger) -> None:
    days.put(SEVENTH - DAY * 2, ("a.example:x", 10), ("b.example:y", 7))
    days.put(SEVENTH, ("a.example:x", 100), ("a.example:z", 20), failed=2, slow=5)
    first = SEVENTH - DAY * 3

    def read(domain: str | None = None, client: str | None = None, begin: date = first) -> Any:
        asked = Asked(begin, SEVENTH, domain, client)
        with days.engine.connect() as connection:
            return read_reports(connection, asked)

    whole = read()
    assert whole.whole.counts.accepted == 137
    assert [p.counts and p.counts.accepted for p in whole.places] == [None, 17, None, 120]
    assert [(g.name, g.accepted) for g in whole.groups] == [("a.example", 130), ("b.example", 7)]
    own = read("a.example")
    assert own.whole.counts.accepted == 130
    assert [g.name for g in own.groups] == ["a.example:x", "a.example:z"]
    assert own.reasons == {"refused": 4}
    assert own.hours[9] == [130, 126, 4]
    assert own.whole.times.p99 > 60_000 > own.whole.times.p50
    assert own.attempts.messages[1] == [126, 4]
    assert own.attempts.days == own.whole.days == 2
    one = read("a.example", "a.example:z")
    assert one.whole.counts.accepted == 20
    assert one.attempts.messages[1] == [18, 2]
    assert [g.name for g in one.groups] == ["a.example:z"]
    assert read("nobody.example").whole.counts.accepted == 0
    later = read("a.example", begin=SEVENTH)
    assert later.before.counts.accepted == 10
    assert later.before.days == 1
    year = read(begin=SEVENTH - DAY * 364)
    assert year.by == "month"
    assert [p.place for p in year.places][-2:] == ["2026-08", "2026-09"]
    assert year.places[-1].counts.accepted == 137


def test_before_the_first_run_there_is_nothing(days: Days) -> None:
    with days.engine.connect() as connection:
        found = read_reports(connection, Asked(SEVENTH, SEVENTH))
    assert (found.published_until, found.last_run, found.groups) == (None, None, [])
    assert found.places[0].counts is None


def test_pages_for_days_and_months(days: Days, ledger: Ledger, tmp_path: Path) -> None:
    days.put(SEVENTH - DAY, ("a.example:x", 100), ("b.example:y", 3), ("c.example:z", 40))
    days.put(SEVENTH, ("a.example:x", 100))
    settings = ledger.settings(reports={"folder": str(tmp_path), "fewest": 10})
    log = Heard()

    def write() -> list[Path]:
        with days.engine.connect() as connection:
            pages.write_missing(connection, settings, SEVENTH + DAY, log)
        return sorted(one.relative_to(tmp_path) for one in tmp_path.rglob("*.html"))

    names = {str(one) for one in write()}
    assert names == reached(tmp_path)
    assert names == {
        "index.html",
        "2026-09.html",
        *(f"{of}/{when}.html" for of in ("all-domains", "domains/a.example")
          for when in ("2026-09", "2026-09-06", "2026-09-07")),
        *(f"domains/{one}/{when}.html" for one in ("b.example", "c.example")
          for when in ("2026-09", "2026-09-06")),
    }  # fmt: skip
    own = (tmp_path / "domains/b.example/2026-09.html").read_text()
    assert "b.example:y" in own
    assert "Waiting and attempts" in own
    assert "a.example" not in own
    every = (tmp_path / "all-domains/2026-09.html").read_text()
    assert "a.example" in every
    assert "b.example" not in every
    assert "c.example" not in every, "or it could be subtracted"
    assert log.of("pages.written")[0]["pages"] == len(names) - 2

    write()
    assert len(log.of("pages.written")) == 1, "all of it is there"
    (tmp_path / "all-domains/2026-09-06.html").unlink()
    ledger.ask_to("UPDATE lake_manifest SET run_id = 'another' WHERE day = '2026-09-07'")
    write()
    assert log.of("pages.written")[1]["days"] == 2
    ledger.ask_to("UPDATE lake_manifest SET reports_run_id = 'rebuilt' WHERE day = '2026-09-07'")
    write()
    assert log.of("pages.written")[2]["days"] == 1, "killed before it wrote the pages"


def reached(folder: Path) -> set[str]:
    """All pages that one gets to from the index."""
    found, todo = set(), ["index.html"]
    while todo:
        page = todo.pop()
        if page not in found:
            found.add(page)
            links = re.findall(r'<a href="([^"#]+)"', (folder / page).read_text())
            todo += [os.path.normpath(Path(page).parent / link) for link in links]
    return found


def test_pages_of_days_that_were_caught_up_with_or_rebuilt(
    days: Days, ledger: Ledger, tmp_path: Path
) -> None:
    """However old they are, and whether that run was killed before it came to the pages."""
    caught_up, long_ago = SEVENTH - DAY * 100, SEVENTH - DAY * 101
    for day in (long_ago, caught_up, SEVENTH):
        days.put(day, ("a.example:x", 100))
    made = "UPDATE lake_manifest SET reports_run_id = '{}T020000-0' WHERE day = '{}'"
    ledger.ask_to(made.format("20260907", caught_up))
    ledger.ask_to(made.format("20260530", long_ago))
    settings = ledger.settings(reports={"folder": str(tmp_path)})
    with days.engine.connect() as connection:
        pages.write_missing(connection, settings, SEVENTH + DAY, Heard())
    there = {one.stem for one in (tmp_path / "domains/a.example").iterdir()}
    assert there == {"2026-05", "2026-05-30", "2026-09", "2026-09-07"}


def test_a_page_for_others_tells_nothing_of_a_day_with_few_messages(
    days: Days, ledger: Ledger, tmp_path: Path
) -> None:
    """Nor the month's of that day."""
    days.put(SEVENTH - DAY, ("a.example:x", 100))
    days.put(SEVENTH, ("a.example:x", 1), slow=1)
    settings = ledger.settings(reports={"folder": str(tmp_path), "fewest": 10})
    with days.engine.connect() as connection:
        pages.write_missing(connection, settings, SEVENTH + DAY, Heard())
    few = (tmp_path / "all-domains/2026-09-07.html").read_text()
    assert "Nothing is told of it" in few
    assert "Delivered within" not in few
    assert SLOW not in few
    month = (tmp_path / "all-domains/2026-09.html").read_text()
    assert "Waiting and attempts" in month
    assert SLOW not in month, "it came on the day that isn't told of"
    assert "100 %" in month, "in time, of what is told of"
    assert SLOW in (tmp_path / "domains/a.example/2026-09.html").read_text()


def test_who_has_sent_who_is_new_and_who_is_silent(days: Days, ledger: Ledger) -> None:
    days.put(SEVENTH - DAY * 7, ("a.example:x", 10), ("a.example:y", 4))
    days.put(SEVENTH, ("a.example:x", 10), ("a.example:z", 10))
    _sent(ledger, SEVENTH - DAY * 7, "a.example:y", 4)
    sketches = [(SEVENTH - DAY * 7, b"old-key!", 3), (SEVENTH, b"new-key!", 5)]
    rows = [
        {"day": day, "domain": "a.example", "client_id": "", "hmac_kid": kid, "sketch": _seen(n)}
        for day, kid, n in sketches
    ]
    seen = [
        {
            "domain": "a.example",
            "client_id": f"a.example:{one}",
            "first_day": first,
            "last_day": last,
        }
        for one, first, last in (
            ("x", SEVENTH - DAY * 7, SEVENTH),
            ("y", SEVENTH - DAY * 7, SEVENTH - DAY * 7),
            ("z", SEVENTH, SEVENTH),
        )
    ]
    with ledger.engine.begin() as connection:
        connection.execute(insert(metadata.tables["report_senders"]), rows)
        connection.execute(insert(metadata.tables["report_clients"]), seen)
    with days.engine.connect() as connection:
        found = read_reports(connection, Asked(SEVENTH - DAY * 7, SEVENTH, "a.example"))
        one_day = read_reports(connection, Asked(SEVENTH, SEVENTH, "a.example"))
        year = read_reports(connection, Asked(SEVENTH - DAY * 300, SEVENTH, "a.example"))
        every = read_reports(connection, Asked(SEVENTH - DAY * 300, SEVENTH))
    assert found.senders is not None
    assert (found.senders.number, found.senders.upper_bound) == (8, True)
    assert [one and one.number for one in found.senders_by_place] == [3, *[None] * 6, 5]
    assert one_day.senders is not None
    assert (one_day.senders.number, one_day.senders.upper_bound) == (5, False)
    assert [one and one.number for one in year.senders_by_place][-2:] == [3, 5]
    assert every.senders is None, "too many sketches to be merged for one page"
    assert [one.client_id for one in found.newcomers] == ["a.example:z"]
    assert [(one.client_id, one.usual) for one in found.silent] == [("a.example:y", 4)]
    assert [(one.day, one.accepted) for one in found.busiest] == [
        (str(SEVENTH), 20),
        (str(SEVENTH - DAY * 7), 14),
    ]


def _sent(ledger: Ledger, day: date, client: str, accepted: int) -> None:
    """As the day's own report has it, which tells who is silent."""
    counts = dict.fromkeys(COUNTS, 0) | {"accepted": accepted}
    row = {"day": day, "hour": 9, "domain": "a.example", "client_id": client} | counts
    with ledger.engine.begin() as connection:
        connection.execute(insert(metadata.tables["report_hours"]), row)


def _seen(number: int) -> bytes:
    """A sketch of so many: each in a register of its own."""
    return b"".join((n * 7).to_bytes(2) + b"\x01" for n in range(number))
