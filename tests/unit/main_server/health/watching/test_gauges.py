"""Gauges of what all main servers see: so many labels and no more, and NaN for what isn't known."""

import math
from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY

from gatepost.queue import Stats
from main_server.health.watching.gauges import MOST_QUEUES, OTHERS, PLACES, Figures, QueueMetrics


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """The registry knows each name once."""
    known = set(REGISTRY._collector_to_names)
    yield
    for one in set(REGISTRY._collector_to_names) - known:
        REGISTRY.unregister(one)


def stats(waiting: int, oldest_ms: int = 0) -> Stats:
    return Stats({1: waiting, 10: 1}, 0, 2, 3, 4, 5, 6, oldest_ms)


def shown(name: str, **labels: str) -> float:
    value = REGISTRY.get_sample_value(name, labels)
    assert value is not None
    return value


def test_each_queue_is_shown_by_place() -> None:
    QueueMetrics().show({"a": stats(7, 1500)})
    found = {place: shown("gatepost_queue_messages", queue="a", place=place) for place in PLACES}
    assert found == {"ready": 8, "leased": 2, "delayed": 3, "in_line": 4, "dead": 5}
    assert shown("gatepost_queue_exposed", queue="a") == 6
    assert shown("gatepost_queue_oldest_seconds", queue="a") == 1.5


def test_past_so_many_queues_the_rest_are_one() -> None:
    QueueMetrics().show({f"q{n:05}": stats(0, n) for n in range(MOST_QUEUES + 3)})
    labels = {
        sample.labels["queue"]
        for family in REGISTRY.collect()
        for sample in family.samples
        if sample.name == "gatepost_queue_messages"
    }
    assert len(labels) == MOST_QUEUES + 1
    assert shown("gatepost_queue_messages", queue=OTHERS, place="dead") == 15
    assert shown("gatepost_queue_oldest_seconds", queue=OTHERS) == (MOST_QUEUES + 2) / 1000


def test_what_is_not_known_is_no_number() -> None:
    metrics = QueueMetrics()
    metrics.show({"a": stats(7)})
    metrics.show(None)
    assert math.isnan(shown("gatepost_queue_messages", queue="a", place="ready"))
    assert math.isnan(shown("gatepost_queue_oldest_seconds", queue="a"))
    figures = Figures("thing", {"bytes": "Its size.", "ok": "Whether it is well."})
    figures.show({"bytes": 3, "ok": None})
    assert shown("thing_bytes") == 3
    assert math.isnan(shown("thing_ok"))
