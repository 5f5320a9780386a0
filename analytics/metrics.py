"""The metrics that tell Prometheus of a run: two files, by kind, for the node exporter to collect.

One file tells of the last run; the other tells of the last that went well, and stays when one
fails. So "no good night for 26 hours" can be seen, whatever has happened since.
"""

from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge

from analytics.nightly import Done
from gatepost import textfile
from gatepost.owners import owner_called

LAST = "gatepost_analytics_{kind}_last_run.prom"
SUCCESS = "gatepost_analytics_{kind}_success.prom"


class Metrics:
    """The files' writer; without a `folder` nobody wants to know."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def succeeded(self, kind: str, done: Done, seconds: float, to: datetime) -> None:
        self._last_run(kind, seconds, ok=True, disagree=False)
        registry = CollectorRegistry()
        ended = to.replace(tzinfo=UTC).timestamp()
        _gauge(
            registry,
            "gatepost_analytics_last_success_timestamp_seconds",
            "When it ended.",
            kind,
            ended,
        )
        _gauge(registry, "gatepost_analytics_success_seconds", "How long it took.", kind, seconds)
        _gauge(registry, "gatepost_analytics_days", "Days that it did.", kind, done.days)
        _gauge(registry, "gatepost_analytics_rows", "Messages of these days.", kind, done.rows)
        _gauge(
            registry,
            "gatepost_analytics_late_changes",
            "Messages changed after sealing.",
            kind,
            done.late_changes,
        )
        if kind == "nightly":
            words = "What is unusual about the last published day."
            _gauge(registry, "gatepost_analytics_unusual", words, kind, done.unusual)
        self._write(SUCCESS.format(kind=kind), registry)

    def failed(self, kind: str, seconds: float, *, disagree: bool) -> None:
        """Tell of a run that failed; `disagree`: because the lake hasn't what the ledger has."""
        self._last_run(kind, seconds, ok=False, disagree=disagree)

    def _last_run(self, kind: str, seconds: float, *, ok: bool, disagree: bool) -> None:
        registry = CollectorRegistry()
        _gauge(
            registry,
            "gatepost_analytics_last_run_ok",
            "1 if the last run went well.",
            kind,
            ok,
        )
        _gauge(
            registry,
            "gatepost_analytics_counts_disagree",
            "1 if the last run found not in the lake what the ledger has.",
            kind,
            disagree,
        )
        _gauge(
            registry,
            "gatepost_analytics_last_run_seconds",
            "How long the last run took.",
            kind,
            seconds,
        )
        self._write(LAST.format(kind=kind), registry)

    def _write(self, file: str, registry: CollectorRegistry) -> None:
        textfile.write(self._folder, file, registry, owner_called("analytics"))


def _gauge(registry: CollectorRegistry, name: str, words: str, kind: str, value: float) -> None:
    gauge = Gauge(name, words, ["kind"], registry=registry)
    gauge.labels(kind).set(value)
