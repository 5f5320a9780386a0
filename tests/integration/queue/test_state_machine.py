"""Random operations, clock steps and worker deaths on the engine, against the model.

After each step the raw keys are audited and compared with the model: no id is lost, none is in two
places, none is reserved twice under a live lease, order is kept, attempts are right, and an empty
queue leaves nothing behind.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gatepost.queue import Delivery, Entry, Queue, Reason
from gatepost.queue.keys import ALONE, READY_LISTS, PartitionKeys
from tests.integration.queue import testclock
from tests.integration.queue.audit import faults, take_snapshot
from tests.integration.queue.conftest import NAME, empty, open_client
from tests.integration.queue.model import Model
from tests.integration.queue.testclock import TestClock

_Item = TypeVar("_Item")

# How many examples of 50 steps each; Redis has most of them, the others show that they are alike.
EXAMPLES = {"redis": 100, "valkey": 20, "cluster": 20}
LEASE_MS = 10_000
ENOUGH = 500


class Server:
    """One event loop and one client for all examples."""

    def __init__(self, kind: str, url: str) -> None:
        self._runner = asyncio.Runner()
        self.client = self._runner.run(_opened(kind, url))

    def run(self, awaitable: Any) -> Any:
        return self._runner.run(awaitable)

    def close(self) -> None:
        self._runner.run(self.client.aclose())
        self._runner.close()


async def _opened(kind: str, url: str) -> Any:
    return open_client(kind, url)


class Engine(RuleBasedStateMachine):
    """The engine and its model, doing the same."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self._run = server.run
        self.keys = PartitionKeys(NAME, 0)
        self.clock = TestClock(server.client, [self.keys])
        self.queue = Queue(server.client, NAME, clock=testclock.LUA)
        self.model = Model(self.clock.now)
        self.ever: list[bytes] = []
        self.held: list[Delivery] = []
        self.lost: list[Delivery] = []

    @initialize()
    def start(self) -> None:
        self._run(empty(self._server.client))
        self._pass(0)

    def _pass(self, seconds: float) -> None:
        self._run(self.clock.advance(seconds))
        self.model.now = self.clock.now

    def _pick(self, data: st.DataObject, items: Sequence[_Item]) -> list[_Item]:
        return data.draw(st.lists(st.sampled_from(items), min_size=1, max_size=4, unique_by=id))

    def _release(self, deliveries: Sequence[Delivery]) -> None:
        """What was settled may only be settled late."""
        self.held = [delivery for delivery in self.held if delivery not in deliveries]
        self.lost.extend(deliveries)

    @rule(
        count=st.integers(1, 5),
        priority=st.sampled_from([1, 5, 10]),
        key=st.sampled_from([None, None, b"a", b"b"]),
        delay=st.sampled_from([0, 0, 0, 5]),
        lifetime=st.sampled_from([None, 3600, 3605, 60, 20, 1]),
        attempts=st.sampled_from([0, 0, 7]),
        exposed=st.booleans(),
        seed=st.randoms(use_true_random=False),
    )
    def enqueue_new(
        self,
        count: int,
        priority: int,
        key: bytes | None,
        delay: int,
        lifetime: int | None,
        attempts: int,
        exposed: bool,
        seed: random.Random,
    ) -> None:
        now = self.clock.now
        entries = [
            Entry(
                id=seed.randbytes(16),
                payload=seed.randbytes(8),
                priority=priority,
                due_at=now + delay * 1000 if delay else None,
                expires_at=now + lifetime * 1000 if lifetime else None,
                ordering_key=key,
                attempts=attempts,
                exposed=exposed,
            )
            for _ in range(count)
        ]
        self.ever.extend(entry.id for entry in entries)
        self._enqueue(entries)

    @precondition(lambda self: self.ever)
    @rule(data=st.data(), generation=st.integers(0, 2), priority=st.sampled_from([1, 5, 10]))
    def enqueue_again(self, data: st.DataObject, generation: int, priority: int) -> None:
        ids = self._pick(data, self.ever)
        known = [self.model.messages.get(id_) for id_ in ids]
        self._enqueue(
            [
                Entry(
                    id=id_,
                    payload=b"again",
                    priority=priority,
                    generation=generation,
                    ordering_key=message.key if message else None,
                    expires_at=self.clock.now + 100_000,
                )
                for id_, message in zip(ids, known, strict=True)
            ]
        )

    def _enqueue(self, entries: list[Entry]) -> None:
        expected = [self.model.enqueue(entry) for entry in entries]
        assert self._run(self.queue.enqueue(entries)) == expected

    @rule(limit=st.sampled_from([1, 2, 3, 10]))
    def reserve(self, limit: int) -> None:
        deliveries = self._run(self.queue.reserve(limit, LEASE_MS / 1000))
        self.model.reserved(deliveries, limit, LEASE_MS)
        self.held.extend(deliveries)
        self._pass(0.001)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        chosen = self._pick(data, self.held)
        chosen.extend(chosen[:1])
        expected = [self.model.acknowledge(delivery) for delivery in chosen]
        assert self._run(self.queue.acknowledge(chosen)) == expected
        self._release(chosen)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), delay=st.sampled_from([0.0, 1.5, 30.0]))
    def retry_later(self, data: st.DataObject, delay: float) -> None:
        chosen = self._pick(data, self.held)
        expected = [self.model.retry_later(delivery, int(delay * 1000)) for delivery in chosen]
        retries = [(delivery, delay) for delivery in chosen]
        assert self._run(self.queue.retry_later(retries)) == expected
        self._release(chosen)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), reason=st.sampled_from(Reason))
    def dead_letter(self, data: st.DataObject, reason: Reason) -> None:
        chosen = self._pick(data, self.held)
        expected = [self.model.dead_letter(delivery, reason) for delivery in chosen]
        letters = [(delivery, reason) for delivery in chosen]
        assert self._run(self.queue.dead_letter(letters)) == expected
        self._release(chosen)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        chosen = self._pick(data, self.held)
        expected = self.model.give_back(chosen)
        assert self._run(self.queue.give_back(chosen)) == expected
        self._release(chosen)

    @precondition(lambda self: self.held)
    @rule()
    def worker_stops(self) -> None:
        expected = self.model.give_back(self.held)
        assert self._run(self.queue.give_back(self.held)) == expected
        self._release(self.held)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def extend(self, data: st.DataObject) -> None:
        chosen = self._pick(data, self.held)
        expected = self.model.extend(chosen, LEASE_MS)
        assert self._run(self.queue.extend(chosen, LEASE_MS / 1000)) == expected
        self._pass(0.001)

    @precondition(lambda self: self.held)
    @rule()
    def worker_dies(self) -> None:
        self.lost.extend(self.held)
        self.held.clear()

    @precondition(lambda self: self.lost)
    @rule(data=st.data())
    def settle_late(self, data: st.DataObject) -> None:
        chosen = self._pick(data, self.lost)
        expected = [self.model.acknowledge(delivery) for delivery in chosen]
        assert self._run(self.queue.acknowledge(chosen)) == expected

    @rule(seconds=st.sampled_from([0.001, 1.0, 9.0, 11.0, 31.0, 3700.0]))
    def time_passes(self, seconds: float) -> None:
        self._pass(seconds)

    @rule()
    def release_due(self) -> None:
        expected = self.model.release_due()
        assert self._run(self.queue.release_due(ENOUGH)) == expected

    @rule(piece=st.sampled_from([2, ENOUGH]))
    def reclaim(self, piece: int) -> None:
        expected = self.model.reclaim()
        count = 0
        while (more := self._run(self.queue.reclaim(piece))) > 0:
            count += more
        assert count == expected

    @rule()
    def expire(self) -> None:
        deliveries = self._run(self.queue.expire(ENOUGH, LEASE_MS / 1000))
        self.model.expired(deliveries, LEASE_MS)
        self.held.extend(deliveries)
        self._pass(0.001)

    @precondition(lambda self: self.model.messages)
    @rule(data=st.data(), gone=st.booleans())
    def remove(self, data: st.DataObject, gone: bool) -> None:
        ids = self._pick(data, self.ever if gone else list(self.model.messages))
        expected = self.model.remove(ids)
        assert self._run(self.queue.remove(ids)) == expected

    @precondition(lambda self: len(self.model.messages) > 10)
    @rule()
    def purge(self) -> None:
        assert self._run(self.queue.purge()) == self.model.purge()

    @precondition(lambda self: self.ever)
    @rule(data=st.data())
    def expose(self, data: st.DataObject) -> None:
        ids = self._pick(data, self.ever)
        known = [self.model.messages.get(id_) for id_ in ids]
        assert self._run(self.queue.expose(ids)) == [message is not None for message in known]
        for message in filter(None, known):
            message.exposed = True

    @precondition(lambda self: self.ever)
    @rule(data=st.data())
    def register(self, data: st.DataObject) -> None:
        ids = self._pick(data, self.ever)
        self._run(self.queue.registered(ids))
        for message in filter(None, map(self.model.messages.get, ids)):
            message.exposed = False

    @invariant()
    def agree(self) -> None:
        seen = self._run(take_snapshot(self._server.client, self.keys))
        assert faults(seen) == []
        messages = self.model.messages
        assert {n: seen.ready(n) for n in READY_LISTS} == self.model.ready
        assert seen.leased == {m.id: m.ends for m in messages.values() if m.place == "leased"}
        assert seen.delayed == {m.id: m.due for m in messages.values() if m.place == "delayed"}
        assert sorted(seen.lines.values()) == sorted(self.model.lines.values())
        assert seen.exposed == {m.id for m in messages.values() if m.exposed}
        assert {id_: score % 16 for id_, score in seen.dead.items()} == self.model.dead
        assert {id_: (r.attempts, r.generation, r.expires) for id_, r in seen.records.items()} == {
            m.id: (m.attempts, m.generation, m.expires) for m in messages.values()
        }

    @invariant()
    def tell(self) -> None:
        stats = self._run(self.queue.stats())
        places = [message.place for message in self.model.messages.values()]
        assert {ALONE: stats.alone} | stats.ready == {
            n: len(ids) for n, ids in self.model.ready.items()
        }
        assert stats.leased == places.count("leased")
        assert stats.delayed == places.count("delayed")
        assert stats.in_line == places.count("in line")
        assert stats.waiting == len(places)
        ids = self.ever[-20:]
        assert self._run(self.queue.missing(ids)) == [
            i for i in ids if i not in self.model.messages
        ]

    def teardown(self) -> None:
        """Let everything that is left be delivered: nothing may be stuck, nothing may stay."""
        for _ in range(3 * len(self.model.messages) + 3):
            self._pass(4000)
            self.release_due()
            self.reclaim(ENOUGH)
            self.reserve(ENOUGH)
            for delivery in self.held:
                assert self._run(self.queue.acknowledge([delivery])) == [
                    self.model.acknowledge(delivery)
                ]
            self.held.clear()
        assert self.model.messages == {}
        self.agree()


@pytest.fixture
def server(kind: str, server_url: str) -> Iterator[Server]:
    server = Server(kind, server_url)
    yield server
    server.close()


def test_the_engine_does_what_the_model_does(kind: str, server: Server) -> None:
    run_state_machine_as_test(
        cast(type[RuleBasedStateMachine], lambda: Engine(server)),
        settings=settings(
            max_examples=EXAMPLES[kind],
            stateful_step_count=50,
            deadline=None,
            phases=[Phase.reuse, Phase.generate],  # shrinking takes minutes, and the steps are few
            suppress_health_check=list(HealthCheck),
        ),
    )
