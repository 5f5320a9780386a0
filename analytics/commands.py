"""The work of `gatepost analytics …`, and what it prints."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from pwd import getpwuid, struct_passwd
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from sqlalchemy.exc import SQLAlchemyError

from analytics import days as calendar
from analytics import submit as spark
from analytics.insight.repository import unusual_on
from analytics.job import in_words
from analytics.ledger import repository
from analytics.ledger.connection import create_ledger_engine
from analytics.ledger.repository import Run
from analytics.metrics import Metrics
from analytics.nightly import utc_now
from analytics.retention.lake import demand_kept_long_enough
from analytics.settings import AnalyticsSettings, LedgerOnly
from gatepost.cli.failure import Failure
from gatepost.cli.output import Output, plain
from gatepost.cli.words import plural
from gatepost.config.settings import load, refuse_unsafe
from gatepost.config.sources import credentials_of
from gatepost.errors import ConfigurationError

MOST_SAID = 10
_FOR_ANOTHER = "/run"
"""The folder in which another user reaches what root hands over, and which no disk keeps."""
_SCRATCH_FOR_ANOTHER = "/var/tmp"
"""The folder in which another user's scratch may be large."""


def submit(config: Path | None, arguments: Sequence[str]) -> NoReturn:
    """Have spark-submit do the work; exit with the exit code of the main file."""
    options = ["--config", str(config.absolute())] if config else []
    try:
        settings = load(AnalyticsSettings, config)
        refuse_unsafe(settings)
        if arguments[0] == "run":
            _demand_kept_long_enough(settings)
        environment = spark.environment(settings.spark, os.environ)
        user = _user_for(settings.lake.uri)
        place, room = (_FOR_ANOTHER, _SCRATCH_FOR_ANOTHER) if user else (None, None)
        given, progress = [*options, *arguments], sys.stderr.isatty()
        with _folder(place) as folder, _folder(room) as scratch:
            command = spark.command(settings.spark, folder, scratch, given, progress=progress)
            environment |= spark.environment_in(scratch)
            if user is not None:
                credentials = credentials_of(config, environment)
                environment |= spark.hand_over(folder, credentials, user)
                os.chown(scratch, user.pw_uid, user.pw_gid)
            code = spark.run(command, environment, user)
    except ConfigurationError as error:
        raise Failure("usage", error.detail) from None
    sys.exit(code)


@contextmanager
def _folder(place: str | None) -> Iterator[Path]:
    """Yield a folder that is nobody else's, for as long as Spark runs; it is where TMPDIR says, if
    nowhere else."""
    with TemporaryDirectory(prefix="gatepost-analytics-", dir=place) as name:
        yield Path(name)


def _user_for(uri: str) -> struct_passwd | None:
    """Return the user as whom Spark is to run, if we are root and the lake is a folder of somebody
    else's: what root left there, the nights of its own user could not remove."""
    if os.geteuid() != 0 or not uri.startswith("file://"):
        return None
    place = Path(uri.removeprefix("file://"))
    there = next(one for one in (place, *place.parents) if one.exists())
    uid = there.stat().st_uid
    if uid == 0:
        return None
    for one in (there, *there.parents):
        if one.is_symlink() and one.lstat().st_uid != 0:
            raise ConfigurationError(f"lake.uri: {one} is a link, and not root's")
    try:
        return getpwuid(uid)
    except KeyError:
        raise ConfigurationError(
            f"lake.uri: {there} is of a user, {uid}, whom this machine does not know"
        ) from None


def _demand_kept_long_enough(settings: AnalyticsSettings) -> None:
    """Demand that the ledger keeps messages for long enough, before Spark starts, which takes
    seconds; the run asks once more, under its lock."""
    try:
        with in_words(), create_ledger_engine(settings.database.address()).connect() as connection:
            demand_kept_long_enough(connection, settings.days.extracted_again)
    except Failure:
        Metrics(settings.metrics_folder).failed("nightly", 0.0, disagree=False)
        raise


def status(config: Path | None, limit: int, *, json: bool) -> None:
    output = Output(json=json)
    try:
        settings = load(LedgerOnly, config)
    except ConfigurationError as error:
        raise Failure("usage", error.detail) from None
    try:
        with create_ledger_engine(settings.database.address()).connect() as connection:
            runs = repository.latest_runs(connection, limit)
            published = repository.sealed_by_day(connection)
            first = repository.first_message(connection)
            under_way = repository.is_locked(connection)
            latest = max(published, default=None)
            unusual = unusual_on(connection, latest)
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or type(error).__name__
        raise Failure("unavailable", f"The ledger does not answer: {reason}") from None
    unsealed = sorted(day for day, sealed in published.items() if not sealed)
    missing = calendar.missing(utc_now(), published, calendar.day_of(first) if first else None)
    shown = [_as_it_is(run, under_way=under_way) for run in runs]
    if json:
        found = {"unusual": unusual, "runs": [plain(run) for run in shown]}
        output.result({**_days(latest, unsealed, missing), **found})
    else:
        _say(output, shown, latest, unsealed)
        _say_unusual(output, latest, unusual)
    if missing:
        raise Failure("fault", f"{tell_missing(missing)}. Run it, or see why it fails.")


def tell_missing(days: Sequence[date]) -> str:
    return f"{plural(len(days), 'night')} missing, the first one after {days[0]}"


def _as_it_is(run: Run, *, under_way: bool) -> dict[str, Any]:
    """Return the run with its true state. A run that was killed can't have said so; that nobody has
    the lock says it."""
    state = "interrupted" if run.state == "running" and not under_way else run.state
    said = {name: getattr(run, name) for name in Run.__slots__}
    return said | {"state": state}


def _days(latest: date | None, unsealed: list[date], missing: list[date]) -> dict[str, object]:
    until = str(latest) if latest else None
    lists = {"open": [str(day) for day in unsealed], "missing": [str(day) for day in missing]}
    return {"published_until": until, **lists}


def _say(
    output: Output, runs: list[dict[str, Any]], latest: date | None, unsealed: list[date]
) -> None:
    output.say(f"The lake is published until {latest}." if latest else "Nothing was published yet.")
    if unsealed:
        output.say(f"Extracted again tonight: {', '.join(str(day) for day in unsealed)}")
    for run in runs:
        text = f"{run['started_at']:%Y-%m-%d %H:%M}  {run['kind']:8} {run['state']:11}"
        numbers = f"{run['days']} days, {run['row_count']} messages, {run['late_changes']} late"
        output.say(f"{text} {numbers}{'  ' + run['reason'] if run['reason'] else ''}")


def _say_unusual(output: Output, day: date | None, unusual: list[str]) -> None:
    """Say the first of what is unusual; all of it is in the reports."""
    for words in unusual[:MOST_SAID]:
        output.say(f"Unusual on {day}: {words}")
    if len(unusual) > MOST_SAID:
        output.say(f"and {len(unusual) - MOST_SAID} more: see the reports.")
