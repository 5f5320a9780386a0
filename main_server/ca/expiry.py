"""Certificates that expire soon: an event at 30, 7 and 1 days, once each, and a count of them.

The ledger remembers what was announced, so that one of several processes says it, and none says it
again after a restart.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client import Gauge
from sqlalchemy import Connection, Engine

from gatepost.trust.expiry import DAYS, stage_of
from main_server.ca.expiry_repository import Expiring, claim_announcement, list_expiring
from main_server.store.database import transact


class ExpiryMetrics:
    """The metrics of expiry; made once the metrics folder is known, hence not at import."""

    def __init__(self) -> None:
        self._count = Gauge(
            "gatepost_certificates_expiring",
            "Certificates in the last third of their life that expire within so many days",
            ["days"],
            multiprocess_mode="livemax",
        )

        self._left = Gauge(
            "gatepost_ca_seconds_left",
            "Until a certificate of the CA's own is over: the root's, the signing one's",
            ["certificate"],
            multiprocess_mode="livemin",
        )

    def show(self, counts: dict[int, int]) -> None:
        for days, count in counts.items():
            self._count.labels(str(days)).set(count)

    def show_ca(self, certificate: str, not_after: datetime, now: datetime) -> None:
        self._left.labels(certificate).set((not_after - now).total_seconds())


@dataclass(frozen=True, slots=True)
class Look:
    """The counts of certificates that expire within so many days, and what is to be said now: days
    and certificate."""

    counts: dict[int, int]
    news: list[tuple[int, Expiring]]


def look_for_expiring(engine: Engine, now: datetime) -> Look:
    def work(connection: Connection) -> Look:
        found = list_expiring(connection, timedelta(days=max(DAYS)), now)
        staged = [(days, one) for one in found if (days := stage_of(one.not_after, now))]
        news = [
            (days, one)
            for days, one in staged
            if (one.days_announced is None or one.days_announced > days)
            and claim_announcement(connection, one.serial, days)
        ]
        overdue = [days for days, one in staged if one.is_overdue(now)]
        return Look({most: sum(days <= most for days in overdue) for most in DAYS}, news)

    return transact(engine, work)
