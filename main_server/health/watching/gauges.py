"""Gauges of things that several processes see alike: the latest of a main server's processes
counts.

Several main servers say the same, each by itself: rules take the greatest, and never add them up.
What can't be asked is NaN, which is neither good nor bad: an old value would hide an outage.
"""

from collections.abc import Iterable, Mapping, Sequence

from prometheus_client import Gauge

from gatepost.queue import Stats
from main_server.tenants.pauses.repository import Pause, What

UNKNOWN = float("nan")
MOST_QUEUES = 200
OTHERS = "others"
PLACES = ("ready", "leased", "delayed", "in_line", "dead")


def gauge(name: str, words: str, labels: Sequence[str] = ()) -> Gauge:
    return Gauge(name, words, labels, multiprocess_mode="livemostrecent")


class Figures:
    """Gauges without labels, named by the last part of their names."""

    def __init__(self, prefix: str, words: Mapping[str, str]) -> None:
        self._gauges = {name: gauge(f"{prefix}_{name}", said) for name, said in words.items()}

    def show(self, figures: Mapping[str, float | None]) -> None:
        """Show these figures; one that isn't among them isn't known."""
        for name, one in self._gauges.items():
            value = figures.get(name)
            one.set(UNKNOWN if value is None else value)


class QueueMetrics:
    """The queues' gauges. They are made once the metrics folder is known, hence not at import.

    There is a label for each queue, which an administrator has named; past MOST_QUEUES there is one
    for the rest.
    """

    def __init__(self) -> None:
        self._messages = gauge(
            "gatepost_queue_messages", "Messages by queue and place", ["queue", "place"]
        )
        self._oldest = gauge(
            "gatepost_queue_oldest_seconds",
            "The age of the oldest of those that are ready and at the head",
            ["queue"],
        )
        self._exposed = gauge(
            "gatepost_queue_exposed", "Messages that are in Redis alone", ["queue"]
        )
        self._shown: set[str] = set()

    def show(self, queues: Mapping[str, Stats] | None) -> None:
        """Show the queues' figures; None where Redis didn't answer."""
        grouped: dict[str, list[Stats]] = {}
        for name, stats in sorted((queues or {}).items()):
            known = len(grouped) < MOST_QUEUES
            grouped.setdefault(name if known else OTHERS, []).append(stats)
        for name in self._shown - grouped.keys():
            self._say(name, None)
        for name, several in grouped.items():
            self._say(name, several)
        self._shown |= grouped.keys()

    def _say(self, name: str, several: list[Stats] | None) -> None:
        for place in PLACES:
            counts = None if several is None else (_in(place, one) for one in several)
            self._messages.labels(name, place).set(_sum(counts))
        exposed = None if several is None else (one.exposed for one in several)
        self._exposed.labels(name).set(_sum(exposed))
        oldest = UNKNOWN if several is None else max(one.oldest_ms for one in several) / 1000
        self._oldest.labels(name).set(oldest)


class PauseMetrics:
    """The number of things paused by hand: queues, and domains' intake; all domains count as
    one."""

    def __init__(self) -> None:
        self._paused = gauge("gatepost_paused", "How many are paused by hand", ["what"])

    def show(self, pauses: Sequence[Pause] | None) -> None:
        """Show the pauses; None where the ledger didn't answer."""
        for what in What:
            count = UNKNOWN if pauses is None else sum(one.what == what for one in pauses)
            self._paused.labels(what.value).set(count)


def _in(place: str, stats: Stats) -> int:
    if place == "ready":
        return stats.reservable
    count: int = getattr(stats, place)
    return count


def _sum(counts: Iterable[int] | None) -> float:
    return UNKNOWN if counts is None else sum(counts)
