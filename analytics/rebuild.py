"""Make the reports of published days again, from the lake; the ledger's messages may be long
gone."""

from collections.abc import Sequence
from datetime import date

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from analytics import lake, pages
from analytics.check import tally, total
from analytics.errors import CountsDisagree
from analytics.lake import REPORTS, Folder
from analytics.ledger import repository
from analytics.ledger.repository import Published
from analytics.nightly import Done, Night, report
from analytics.publish import publish_reports
from analytics.retention.repository import removed_between
from gatepost.errors import NotFound


def run(night: Night, done: Done, first: date, last: date) -> None:
    for day in _published(night, first, last):
        rebuild_day(night, day)
        done.days += 1
        done.rows += day.row_count
    pages.write_missing(night.connection, night.settings, night.now.date(), night.log)


def rebuild_day(night: Night, day: Published) -> None:
    path = day.folder.path(night.settings.lake.uri)
    try:
        uri, version = night.settings.lake.uri, day.schema_version
        rows = lake.read_beside(night.session, uri, day.folder, version)
        if total(tally(rows.messages)) != day.tally:
            raise CountsDisagree(f"{path} has not the {day.row_count} messages that it had.")
        for name, count in rows.count_beside().items():
            if day.beside[name] not in (None, count):
                place = day.folder.path(uri, name)
                raise CountsDisagree(f"{place} has not the {day.beside[name]} rows that it had.")
        facts = report(night, rows, Folder(day.day, night.run_id, REPORTS))
    except (Py4JJavaError, PySparkException) as error:
        raise lake.unreadable(path, error) from error
    publish_reports(night.connection, facts, night.now, night.settings.aims())
    night.log.info("day.rebuilt", day=str(day.day), rows=day.row_count)


def _published(night: Night, first: date, last: date) -> Sequence[Published]:
    with night.connection.begin():
        found = repository.published_between(night.connection, first, last)
        removed = removed_between(night.connection, first, last)
    days = [one for one in found if one.day not in removed]
    if not days:
        past = ", or it is past the lake's own time" if removed else ""
        raise NotFound(f"No day from {first} to {last} was published{past}.")
    return days
