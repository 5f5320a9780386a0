"""How long answers took, on a running stack: from the proxies' metrics, by their vitals, into the
ledger that the nightly pipeline reads."""

from sqlalchemy import text

from main_server.health.reports.answers import WRITE_SECONDS
from main_server.store.database import transact
from tests.acceptance.site import Site, accepted, eventually, post


def test_what_was_answered_is_noted_within_a_minute(site: Site) -> None:
    before = _answered(site)
    with site.calling() as client:
        for _ in range(5):
            accepted(post(client))

    def noted() -> bool:
        return _answered(site) >= before + 5

    eventually(noted, "what proxies say is written down", seconds=WRITE_SECONDS * 2)


def _answered(site: Site) -> int:
    of_each = "SELECT MAX(accepted) AS last FROM answer_times GROUP BY process"
    query = text(f"SELECT COALESCE(SUM(last), 0) FROM ({of_each}) AS processes")
    return int(transact(site.engine, lambda c: c.scalar(query)) or 0)
