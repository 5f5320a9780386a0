"""The nightly pipeline's part of `gatepost doctor`."""

from collections.abc import Iterator

from sqlalchemy.exc import OperationalError

from analytics.commands import tell_missing
from analytics.days import day_of, missing
from analytics.ledger import repository
from analytics.ledger.connection import create_ledger_engine
from analytics.nightly import utc_now
from analytics.settings import AnalyticsSettings
from gatepost.cli.doctor.look import CantTell, Finding, Look, fine, warning, wrong
from gatepost.cli.doctor.site import Site

SECONDS = 6


def see_nights(site: Site) -> Iterator[Finding]:
    settings = site.of("analytics", AnalyticsSettings)
    if settings is None:
        return
    now, status = utc_now(), f"gatepost analytics status --config {site.parts['analytics'].file}"
    try:
        with create_ledger_engine(settings.database.address(), SECONDS).connect() as connection:
            published = repository.sealed_by_day(connection)
            first = repository.first_message(connection)
            runs = repository.latest_runs(connection, 1)
    except OperationalError as error:
        raise CantTell("the ledger does not answer", "gatepost doctor ledger") from error
    if days := missing(now, published, day_of(first) if first else None):
        yield wrong(tell_missing(days), status)
    elif runs and runs[0].state == "failed":
        words = f"the last run has failed: {runs[0].reason or 'no reason was noted'}"
        yield warning(words, status)
    else:
        latest = max(published, default=None)
        yield fine(f"the reports go up to {latest}" if latest else "there is nothing to report yet")


LOOKS = (
    Look(
        name="nights",
        at="up to which day the nightly job has reported, and whether its last run failed",
        why="retention waits for it: what isn't in the lake isn't taken away",
        mend="gatepost analytics status",
        see=see_nights,
    ),
)
