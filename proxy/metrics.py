"""The counts that a proxy keeps of messages and of the two stores, beside its requests."""

from collections.abc import Callable

from prometheus_client import Counter, Histogram

from gatepost.metrics import LATENCY_SECONDS
from proxy.commit import Durability

REPLAYED, UNAVAILABLE, UNKNOWN = "replayed", "unavailable", "unknown"


class IntakeMetrics:
    """The metrics of intake. They are made once the metrics folder is known, hence not at import.

    A batch is answered 200 whatever became of its messages, so messages are counted here one by
    one.
    """

    def __init__(self) -> None:
        messages = Counter(
            "gatepost_proxy_messages",
            "Well-formed messages by what was promised: how durable they are, or nothing",
            ["outcome"],
        )
        outcomes = (*Durability, REPLAYED, UNAVAILABLE, UNKNOWN)
        self._messages = {str(one): messages.labels(str(one)) for one in outcomes}
        seconds = Histogram(
            "gatepost_proxy_commit_seconds",
            "Time of one commit, of all messages that share it",
            ["store"],
            buckets=LATENCY_SECONDS,
        )
        self._seconds = {store: seconds.labels(store) for store in ("queue", "ledger")}

    def count(self, outcome: str) -> None:
        self._messages[outcome].inc()

    def timing(self, store: str) -> Callable[[float], None]:
        return self._seconds[store].observe
