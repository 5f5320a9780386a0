"""The reports of days that are published, made again from the lake; the ledger's messages may be
long gone."""

from collections.abc import Sequence
from datetime import date

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from analytics import lake
from analytics.check import tally, total
from analytics.errors import LakeUnreadable
from analytics.ledger import repository
from analytics.ledger.repository import Published
from analytics.nightly import Done, Night
from analytics.publish import gather, publish_reports
from gatepost.errors import NotFound


def run(night: Night, done: Done, first: date, last: date) -> None:
    for day in _published(night, first, last):
        rebuild_day(night, day)
        done.days += 1
        done.rows += day.row_count


def rebuild_day(night: Night, day: Published) -> None:
    path = day.folder.path(night.settings.lake.uri)
    try:
        messages = lake.read(night.session, night.settings.lake.uri, day.folder, day.schema_version)
        if total(tally(messages)) != day.tally:
            raise LakeUnreadable(f"{path} has not the {day.row_count} messages that it had.")
        facts = gather(messages, day.day)
    except (Py4JJavaError, PySparkException) as error:
        raise lake.unreadable(path, error) from error
    publish_reports(night.connection, day.day, facts)
    night.log.info("day.rebuilt", day=str(day.day), rows=day.row_count)


def _published(night: Night, first: date, last: date) -> Sequence[Published]:
    with night.connection.begin():
        days = repository.published_between(night.connection, first, last)
    if not days:
        raise NotFound(f"No day from {first} to {last} was published.")
    return days
