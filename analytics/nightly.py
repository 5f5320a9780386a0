"""A night's run: clear away what earlier ones have left; extract each day that can still change,
check it, publish it; then look at what is sealed, take away what is past its time, and make pages.

Each day is published by itself, and whatever a run writes before that is nobody's yet. So a run may
be killed anywhere, and the next one does what is left (I13).
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import SparkSession
from sqlalchemy import Connection

from analytics import days as calendar
from analytics import lake, pages
from analytics.check import Tallies, differences, tally, total
from analytics.errors import CountsDisagree, LakeUnreadable
from analytics.extract import read_attempts, read_day, read_senders
from analytics.insight.repository import unusual_on
from analytics.lake import REPORTS, Folder
from analytics.late import count_late
from analytics.ledger import repository
from analytics.publish import Facts, gather, publish
from analytics.reports.day import DayRows
from analytics.retention.lake import demand_kept_long_enough, take_away
from analytics.schema import VERSION
from analytics.settings import AnalyticsSettings
from analytics.stopwatch import Stopwatch
from gatepost.logs import Log

KEPT_UNREFERENCED = timedelta(days=1)
TRIES = 3
"""The number of times that a day is read while late messages keep coming; then something else is
wrong."""


@dataclass(slots=True)
class Done:
    """The work that a run has done so far."""

    days: int = 0
    rows: int = 0
    late: dict[date, int] = field(default_factory=dict)
    unusual: int = 0
    """The number of unusual things about the last day that is published."""

    @property
    def late_changes(self) -> int:
        return sum(self.late.values())


@dataclass(frozen=True, slots=True)
class Night:
    """The things that the steps of a run need."""

    session: SparkSession
    connection: Connection
    settings: AnalyticsSettings
    log: Log
    run_id: str
    now: datetime


def run(night: Night, done: Done, *, catch_up: bool) -> None:
    """Do a night's work. `done` is filled as it goes on, for whoever tells of a run that failed
    half-way.

    What failed runs have left goes before this one writes, or runs that keep failing would fill the
    lake; pages come last, as nothing else is to wait for them.
    """
    demand_kept_long_enough(night.connection, night.settings.days.extracted_again)
    due = due_days(night, catch_up=catch_up)
    collect(night)
    for day in due:
        rows = do_day(night, day)
        done.days += 1
        done.rows += rows
    done.unusual = tell_unusual(night)
    done.late = watch_sealed(night)
    take_away(night.session, night.connection, night.settings, night.log, night.now)
    pages.write_missing(night.connection, night.settings, night.now.date(), night.log)


def due_days(night: Night, *, catch_up: bool) -> list[date]:
    connection, limits = night.connection, night.settings.days
    with connection.begin():
        ledgers = repository.read_now(connection)
        published = repository.sealed_by_day(connection)
        first = repository.first_message(connection)
    began = calendar.day_of(first) if first else None
    due = calendar.due(night.now.date(), published, began, limits.watched)
    at_once = len(due) if catch_up else limits.at_once
    calendar.demand_sane(night.now, ledgers, due, at_once)
    return due


def do_day(night: Night, day: date) -> int:
    """Extract, check and publish a day; return how many messages it has."""
    log, watch = night.log.bind(day=str(day)), Stopwatch()
    folder, written, tallies = extract(night, day, log, watch)
    facts = report(night, written, Folder(day, folder.run_id, REPORTS))
    watch.lap("reports")
    with night.connection.begin():
        before = repository.published(night.connection, day)
    since = before.first_published_at if before else None
    open_for = timedelta(days=night.settings.days.extracted_again - 1)
    ended = calendar.may_be_sealed(day, night.now, open_for, since)
    seal = ended and not facts.waiting
    if ended and facts.waiting:
        log.warning("day.not_sealed", waiting=facts.waiting)
    aims = night.settings.aims()
    row = publish(night.connection, folder, total(tallies), facts, night.now, aims, seal=seal)
    watch.lap("publish")
    log.info(
        "day.published", rows=row.row_count, folder=folder.run_id, sealed=seal, **watch.seconds()
    )
    return row.row_count


def extract(night: Night, day: date, log: Log, watch: Stopwatch) -> tuple[Folder, DayRows, Tallies]:
    """Write a folder with all that the ledger has of the day; return it, and the rows as read from
    it again."""
    wrong: list[str] = []
    for number in range(TRIES):
        folder = Folder(day, f"{night.run_id}.{number}" if number else night.run_id)
        written = copy(night, folder)
        watch.lap("extract")
        found = tally(written.messages)
        with night.connection.begin():
            expected = repository.tally(night.connection, calendar.ids_of(day))
        wrong = differences(found, expected)
        watch.lap("check")
        if not wrong:
            return folder, written, found
        log.warning("day.disagrees", attempt=number + 1, differences=wrong)
    raise CountsDisagree(
        f"{day} can't be published: after {TRIES} extractions the lake has not what the ledger has"
        f" ({'; '.join(wrong)}). Does the replica lag behind?"
    )


def copy(night: Night, folder: Folder) -> DayRows:
    """Copy a day into the folder. Attempts and senders are of the messages that are there by then,
    or of later ones; if there are such, the day is going to be extracted again."""
    source, day = night.settings.read_from().address(), folder.day
    session, uri = night.session, night.settings.lake.uri
    parts = night.settings.spark.read_partitions
    with night.connection.begin():
        repository.note_folder(night.connection, folder, night.now)
    lake.write(read_day(session, source, day, parts), uri, folder)
    messages = lake.read(session, uri, folder, VERSION)
    attempts = read_attempts(session, source, day, parts, messages)
    lake.write(attempts, uri, folder, "attempts")
    lake.write(read_senders(session, source, day, parts), uri, folder, "senders")
    return lake.read_beside(session, uri, folder, VERSION)


def report(night: Night, rows: DayRows, folder: Folder) -> Facts:
    """Make the reports, in a folder of their own."""
    with night.connection.begin():
        repository.note_folder(night.connection, folder, night.now)
    return gather(rows, night.settings.lake.uri, folder)


def tell_unusual(night: Night) -> int:
    with night.connection.begin():
        day = max(repository.sealed_by_day(night.connection), default=None)
        found = unusual_on(night.connection, day)
    if found:
        night.log.warning("day.unusual", day=str(day), count=len(found), words=found[:5])
    return len(found)


def watch_sealed(night: Night) -> dict[date, int]:
    """Return the sealed days that the ledger has changed after all, and how many messages, at
    least. Once noted, a change stays: retention takes the messages away, and not that they had
    changed."""
    connection = night.connection
    with connection.begin():
        first = repository.first_message(connection)
        noted = repository.late_changes(connection, calendar.day_of(first)) if first else {}
    today, watched = night.now.date(), night.settings.days.watched
    late = {}
    for day in calendar.to_watch(today, noted, watched):
        with connection.begin():
            published = repository.published_counts(connection, day)
            now = repository.counts(connection, calendar.ids_of(day))
            count = max(noted[day], count_late(published, now))
            if count > noted[day]:
                repository.put_late_changes(connection, day, count)
        if count:
            late[day] = count
            night.log.warning("day.changed_late", day=str(day), messages=count)
    return late


def collect(night: Night) -> None:
    """Remove folders that no manifest names: of runs that failed, and of earlier nights.

    They go a day later, so that whoever has begun to read one may end.
    """
    with night.connection.begin():
        before = night.now - KEPT_UNREFERENCED
        unreferenced = repository.unreferenced(night.connection, before)
    for folder in unreferenced:
        try:
            lake.remove(night.session, night.settings.lake.uri, folder)
        except LakeUnreadable as error:  # it stays noted, and the night is none the worse for it
            night.log.warning("folder.not_removed", reason=error.detail)
            continue
        with night.connection.begin():
            repository.forget_folder(night.connection, folder)
        night.log.info("folder.removed", day=str(folder.day), folder=folder.run_id)


def utc_now() -> datetime:
    """Return the time to the millisecond, as the ledger keeps it."""
    now = datetime.now(UTC).replace(tzinfo=None)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
