"""The limit on what waits undelivered in a domain (I11)."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from gatepost.errors import Backlogged
from gatepost.queue import QueueUnavailable
from gatepost.wire.bundle import KnownDomain
from proxy.depths import Depths, depths_loop
from proxy.senders import Senders
from tests.factories import bundle
from tests.heard import until

DOMAIN = KnownDomain("example.com", None, 10)


def test_below_the_limit_is_taken_and_at_it_refused_with_a_time() -> None:
    depths = Depths()
    depths.saw("example.com", 9)
    depths.check(DOMAIN)
    depths.saw("example.com", 10)
    with pytest.raises(Backlogged) as refused:
        depths.check(DOMAIN)
    assert refused.value.retry_after > 0


def test_another_domains_backlog_is_its_own() -> None:
    depths = Depths()
    depths.saw("other.example", 1000)
    depths.check(DOMAIN)


def test_what_is_accepted_since_the_last_look_counts_for_every_process() -> None:
    depths = Depths(processes=2)
    depths.saw("example.com", 6)
    depths.accepted(DOMAIN)
    depths.check(DOMAIN)
    depths.accepted(DOMAIN)
    with pytest.raises(Backlogged):
        depths.check(DOMAIN)


def test_the_next_look_is_believed() -> None:
    depths = Depths()
    depths.saw("example.com", 10)
    depths.accepted(DOMAIN)
    depths.saw("example.com", 0)
    depths.check(DOMAIN)


class SomeQueues:
    """Queues of which so much waits in each; one that is away says nothing."""

    def __init__(self, **waiting: int) -> None:
        self.waiting = waiting
        self.away = False

    def named(self, name: str | None) -> Any:
        return Asked(self, name or "default")


class Asked:
    def __init__(self, queues: SomeQueues, name: str) -> None:
        self._queues, self._name = queues, name

    async def stats(self) -> Any:
        if self._queues.away:
            raise QueueUnavailable
        return SimpleNamespace(waiting=self._queues.waiting[self._name])


async def test_every_domains_queue_is_looked_at_and_silence_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proxy.depths.LOOK_SECONDS", 0.01)
    domains = [KnownDomain("a.example", None, 10), KnownDomain("b.example", "b", 10)]
    senders, depths, stop = Senders(), Depths(), asyncio.Event()
    senders.learn(bundle(domains=domains))
    queues: Any = SomeQueues(default=3, b=10)
    task = asyncio.create_task(depths_loop(stop, senders, queues, depths))
    await until(lambda: full(depths, domains[1]))
    assert not full(depths, domains[0])

    queues.away = True
    queues.waiting["b"] = 0
    await asyncio.sleep(0.05)
    assert full(depths, domains[1])
    queues.away = False
    await until(lambda: not full(depths, domains[1]))
    stop.set()
    await task


def full(depths: Depths, domain: KnownDomain) -> bool:
    try:
        depths.check(domain)
    except Backlogged:
        return True
    return False


def test_what_was_accepted_is_known_by_domain_without_being_counted_for_itself() -> None:
    depths = Depths(processes=2)
    other = KnownDomain("other.example", None, 10)
    for _ in range(3):
        depths.accepted(DOMAIN)
    assert depths.totals() == {"accepted": {"example.com": 3}}
    depths.saw("example.com", 7)
    depths.accepted(DOMAIN)
    depths.accepted(other)
    depths.saw("example.com", 0)
    depths.saw("other.example", 0)
    depths.accepted(DOMAIN)
    assert depths.totals() == {"accepted": {"example.com": 5, "other.example": 1}}
