"""Do a run as a whole: alone, written down, measured; and say in words what goes wrong.

The main file (analytics/main.py) calls this once it knows what it was asked for.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from analytics import lake, metrics
from analytics.errors import AnotherRuns, CountsDisagree, LockLost, PagesUnwritable
from analytics.ledger import repository
from analytics.ledger.connection import create_ledger_engine, the_only_run
from analytics.ledger.repository import Run
from analytics.nightly import Done, Night, utc_now
from analytics.settings import AnalyticsSettings
from gatepost.cli.failure import Failure
from gatepost.errors import ConfigurationError, GatepostError, NotFound
from gatepost.logs import Log

Work: TypeAlias = Callable[[Night, Done], None]
_KINDS: Mapping[type[GatepostError], str] = {
    AnotherRuns: "unavailable",
    LockLost: "unavailable",
    ConfigurationError: "usage",
    NotFound: "not-found",
    PagesUnwritable: "fault",
}
"""The kinds of errors; an error that isn't among them was a refusal."""
_OF_CONNECTIONS = ("Connection", "Communications link", "Could not connect", "Socket")


def run(
    session: SparkSession,
    settings: AnalyticsSettings,
    log: Log,
    kind: str,
    work: Work,
    now: datetime | None = None,
) -> Run:
    """Do a run; `now` is for those who play another night. Run ids are in the order of their times,
    which repository.published_lately goes by."""
    begun, moment = time.monotonic(), now or utc_now()
    run_id = f"{moment:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
    log = log.bind(run=run_id, kind=kind)
    metrics_of = metrics.Metrics(settings.metrics_folder)
    done = Done()
    try:
        with in_words(), the_only_run(create_ledger_engine(settings.database.address())) as ledger:
            night = Night(session, ledger, settings, log, run_id, moment)
            ended = _written_down(night, kind, work, done)
    except Exception as error:
        seconds = time.monotonic() - begun
        log.error("run.failed", reason=_reason(error), seconds=round(seconds, 3))
        disagree = isinstance(error.__cause__, CountsDisagree)
        metrics_of.failed(kind, seconds, disagree=disagree)
        raise
    seconds = time.monotonic() - begun
    log.info(
        "run.done",
        days=done.days,
        rows=done.rows,
        late=done.late_changes,
        seconds=round(seconds, 3),
    )
    metrics_of.succeeded(kind, done, seconds, to=ended.ended_at or moment)
    return ended


def _written_down(night: Night, kind: str, work: Work, done: Done) -> Run:
    """Do the work while the run's row in the ledger says that it runs, then how it ended."""
    begun = Run(night.run_id, kind, "running", night.now, None, 0, 0, 0, None)
    with night.connection.begin():
        repository.begin_run(night.connection, begun.run_id, kind, night.now)
    night.log.info("run.started")
    try:
        with in_words():
            lake.demand_opened(night.session, night.settings.lake.uri)
            work(night, done)
    except Exception as error:
        _end(night.connection, begun, done, "failed", _reason(error))
        raise
    return _end(night.connection, begun, done, "done", None)


def _end(connection: Connection, run: Run, done: Done, state: str, reason: str | None) -> Run:
    ended = replace(
        run,
        state=state,
        ended_at=utc_now(),
        days=done.days,
        row_count=done.rows,
        late_changes=done.late_changes,
        reason=reason,
    )
    try:
        with connection.begin():
            repository.end_run(connection, ended)
    except SQLAlchemyError:
        if state == "done":
            raise
        # The ledger has gone, which is why the run has failed. The next one notes it.
    return ended


def _reason(error: Exception) -> str:
    """Return why the run failed. An error that nobody has foreseen is told by its name alone: where
    it goes, others read it."""
    if isinstance(error, Failure):
        return error.message
    return f"{type(error).__name__}, which was not foreseen: the log has where"


@contextmanager
def in_words() -> Iterator[None]:
    try:
        yield
    except GatepostError as error:
        kinds = (kind for known, kind in _KINDS.items() if isinstance(error, known))
        raise Failure(next(kinds, "refused"), error.detail) from error
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or type(error).__name__
        raise Failure(
            "unavailable", f"The ledger does not answer as it should: {reason}"
        ) from error
    except (Py4JJavaError, PySparkException) as error:
        cause = lake.root_cause(error)
        kind = "unavailable" if any(word in cause for word in _OF_CONNECTIONS) else "fault"
        raise Failure(kind, f"Spark could not do it: {cause}") from error
    except Py4JError as error:
        raise Failure("fault", f"The JVM has ended: {type(error).__name__}") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        words = f"The machine could not do it: {where}{error.strerror or error}"
        raise Failure("fault", words) from error
