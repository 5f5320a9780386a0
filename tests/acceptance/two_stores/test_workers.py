"""The workers as processes on a real Redis, before a main server that says what the test wants:
retries, failures, stops, turns, and Redis in every kind of trouble."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from gatepost.queue import Entry, Peeked, Place, Queue, Reason, connect
from gatepost.trust.revocation import KEY
from gatepost.trust.tls import TlsFiles
from gatepost.wire.contract import DeliveryOffer, Result, SettleItem, Settlement
from tests.acceptance.two_stores.fake_main import (
    DELIVER,
    SETTLE,
    FakeMain,
    deliver,
    refuse,
    result,
)
from tests.acceptance.two_stores.rig import QUEUE, Rig
from tests.factories import ids
from tests.heard import wait_until
from worker.delivering import BATCH

OTHER = "b.example:messages"
PAYLOAD = b'{"request_id":"r","traceparent":"t"}'


class Pool:
    """A worker's supervisor with its processes, between a Redis and a fake main server."""

    def __init__(self, rig: Rig, main: FakeMain) -> None:
        self.rig, self.main = rig, main

    def start(self, *, timeout: float = 10, **rules: Any) -> None:
        plain = {"concurrency": 1, "retry": "fixed", "retry_interval": 30, "max_attempts": 10_000}
        self.rig.configure("worker", "worker", **(plain | rules))
        self.rig.configure("worker", "main_server", timeout=timeout)
        self.rig.start("worker")

    @property
    def pid(self) -> int:
        return self.rig.children["worker"].pid

    def end(self, seconds: float) -> int:
        """Told to stop; its exit code."""
        child = self.rig.children["worker"]
        os.kill(child.pid, signal.SIGTERM)
        wait_until(lambda: child.exit_code() is not None, seconds)
        self.rig.kill("worker")
        code = child.exit_code()
        assert code is not None
        return code

    def send(
        self, count: int = 1, queue: str = QUEUE, sent: list[UUID] | None = None, **given: Any
    ) -> list[UUID]:
        """Messages into Redis, in this order."""
        sent = sent or [ids.new() for _ in range(count)]
        whole = {"payload": PAYLOAD} | given
        entries = [Entry(id=one.bytes, **whole) for one in sent]
        self._ask(lambda redis: Queue(redis, queue).enqueue(entries))
        return sent

    def peek(self, *wanted: UUID) -> list[Peeked | None]:
        keys = [one.bytes for one in wanted]
        found: list[Peeked | None] = self._ask(lambda redis: Queue(redis, QUEUE).peek(keys))
        return found

    def place(self, one: UUID) -> Place | None:
        (peeked,) = self.peek(one)
        return peeked.place if peeked else None

    def reason(self, one: UUID) -> Reason | None:
        (peeked,) = self.peek(one)
        return peeked.dead.reason if peeked and peeked.dead else None

    def _ask(self, what: Callable[[Any], Any]) -> Any:
        async def ask() -> Any:
            async with connect(self.rig.redis_server.url()) as redis:
                return await what(redis)

        return asyncio.run(ask())

    def commands(self) -> int:
        """How many commands Redis has been sent, not counting what its scripts do."""
        stats: Any = self.rig.redis.info("commandstats")
        asked = ("evalsha", "eval", "brpop", "time", "hmget", "srem")
        return sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in asked)

    def cpu_seconds(self) -> float:
        """What the pool has used so far."""
        ticks = 0
        for pid in [self.pid, *self.rig.processes("worker")]:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def main(rig: Rig) -> Iterator[FakeMain]:
    if not rig.redis.exists(KEY):  # without a list of what is revoked no worker gets ready
        rig.start("main_server")
        wait_until(lambda: rig.redis.exists(KEY))
    for name in list(rig.children):
        rig.kill(name)
    pki = rig.place.pki
    files = TlsFiles(pki / "main_server.pem", pki / "main_server.key", pki / "ca.pem")
    with FakeMain(files, rig.ports.main_server, [QUEUE, OTHER]) as main:
        yield main


@pytest.fixture
def pool(rig: Rig, main: FakeMain) -> Iterator[Pool]:
    yield Pool(rig, main)
    if "worker" in rig.children:
        rig.kill("worker")
    rig.configure("worker", "worker", concurrency=1, retry_interval=30, max_attempts=10_000)
    rig.configure("worker", "main_server", timeout=10)


def test_what_is_refused_for_now_waits_in_redis_and_holds_nothing_up(pool: Pool) -> None:
    pool.start(retry_interval=2.0)
    stubborn = {ids.new() for _ in range(4 * BATCH)}
    pool.main.decide = lambda one: (
        refuse(one) if one.message_id in stubborn and one.attempt < 2 else deliver(one)
    )
    pool.send(sent=list(stubborn))
    wait_until(lambda: pool.main.delivered(*stubborn))
    # While so many wait, a new one is delivered at once.
    new, started = pool.send(1), time.monotonic()
    wait_until(lambda: pool.main.delivered(*new))
    assert time.monotonic() - started < 1.5
    wait_until(lambda: pool.rig.waiting() == 0, 10)
    for one in stubborn:
        attempts = pool.main.attempts_of(one)
        assert [attempt.number for attempt in attempts] == [1, 2]
        assert 2.0 <= attempts[1].at - attempts[0].at < 2.0 + 0.25 + 1.5
    told = [item for item in pool.main.settled if item.message_id in stubborn]
    assert {(item.outcome, item.reason) for item in told} == {(Settlement.RETRY, "busy")}
    assert len(told) == len(stubborn)


def test_batches_that_come_one_after_the_other_hardly_wait(pool: Pool) -> None:
    pool.start()
    started = time.monotonic()
    for _ in range(12):
        sent = pool.send(30)
        wait_until(lambda sent=sent: pool.main.delivered(*sent))  # type: ignore[misc]
    assert time.monotonic() - started < 5.0


def test_exponential_waits_double_with_jitter(pool: Pool) -> None:
    pool.start(retry="exponential", retry_interval=0.2, retry_longest=0.5)
    pool.main.decide = lambda one: refuse(one) if one.attempt < 5 else deliver(one)
    (one,) = pool.send(1)
    wait_until(lambda: len(pool.main.attempts_of(one)) == 5, 15)
    told = [(item.due_at or 0) - item.ended_at for item in pool.main.settled]
    for waited, whole in zip(told, (200, 400, 500, 500), strict=True):
        assert whole / 2 - 1 <= waited <= whole


def test_when_its_attempts_are_used_it_has_failed_in_the_ledger_first(pool: Pool) -> None:
    pool.main.decide = refuse
    seen: list[Place | None] = []
    held = pool.rig.redis

    def look(item: SettleItem) -> None:
        if item.outcome is Settlement.FAILED:
            there = held.hexists(pool.rig.key("payload"), item.message_id.bytes)
            seen.append(Place.LEASED if there else None)

    pool.main.on_settle = look
    pool.start(retry_interval=0.1, max_attempts=3)
    (one,) = pool.send(1)
    wait_until(lambda: pool.place(one) is Place.DEAD)
    assert pool.reason(one) is Reason.ATTEMPTS_USED
    assert [attempt.number for attempt in pool.main.attempts_of(one)] == [1, 2, 3]
    assert seen == [Place.LEASED]
    *retries, failed = pool.main.settled
    assert [item.outcome for item in retries] == [Settlement.RETRY] * 2
    assert (failed.outcome, failed.reason, failed.attempt) == (
        Settlement.FAILED,
        "attempts_used",
        3,
    )
    assert bytes(failed.envelope) == PAYLOAD
    assert pool.rig.waiting() == 0


def test_a_failure_that_the_ledger_can_not_be_told_is_not_forgotten(pool: Pool) -> None:
    pool.main.decide = lambda one: result(one, Result.REFUSED, reason="refused")
    pool.main.status = lambda path: 503 if path == SETTLE else 200
    pool.start()
    (one,) = pool.send(1)
    wait_until(lambda: len(pool.main.attempts_of(one)) > 2)
    (peeked,) = pool.peek(one)
    assert peeked is not None
    assert peeked.place is not Place.DEAD
    pool.main.status = lambda _path: 200
    wait_until(lambda: pool.place(one) is Place.DEAD, 3)
    assert pool.reason(one) is Reason.REFUSED
    assert {attempt.number for attempt in pool.main.attempts_of(one)} == {1}


def test_what_has_expired_ends_without_an_attempt(pool: Pool) -> None:
    pool.main.decide = lambda one: result(one, Result.EXPIRED)
    expired = pool.send(20, expires_at=int(time.time() * 1000) - 1)
    waiting = pool.send(1, due_at=int(time.time() * 1000) + 60_000)
    pool.start()
    wait_until(lambda: {pool.reason(one) for one in expired} == {Reason.EXPIRED})
    assert pool.place(waiting[0]) is Place.DELAYED
    assert pool.main.settled == []


def test_a_payload_that_nobody_can_read_dies_alone(pool: Pool) -> None:
    bad = set(pool.send(2, payload=b"\0 not JSON"))

    def decide(offer: DeliveryOffer) -> Any:
        return result(offer, Result.SEND_ENVELOPE) if not offer.envelope else deliver(offer)

    pool.main.decide = decide
    good = pool.send(50)
    pool.start()
    wait_until(lambda: pool.rig.waiting() == 0)
    assert {pool.reason(one) for one in bad} == {Reason.UNREADABLE}
    assert {pool.place(one) for one in good} == {None}
    assert {(item.message_id in bad, item.reason) for item in pool.main.settled} == {
        (True, "unreadable")
    }


def test_told_to_stop_it_finishes_what_it_holds_and_takes_nothing_more(pool: Pool) -> None:
    pool.start()
    pool.main.pause = 1.0
    first = pool.send(100)
    wait_until(lambda: pool.rig.leased() > 0)
    later = pool.send(300)
    held = pool.rig.leased()
    assert pool.end(10) == 0
    assert pool.rig.leased() == 0
    offered = {attempt.message_id for attempt in pool.main.attempts}
    assert offered <= {*first, *later}
    assert pool.rig.waiting() == 400 - len(offered)
    assert len(offered) >= min(held, 1)
    assert len(offered) < 400


def test_what_it_could_not_finish_goes_back_to_the_head_uncounted(pool: Pool) -> None:
    pool.start(timeout=1.5)
    pool.main.pause = 60
    sent = pool.send(30)
    wait_until(lambda: pool.rig.leased() > 0)
    assert pool.end(20) == 0
    assert pool.rig.leased() == 0
    peeked = [one for one in pool.peek(*sent) if one is not None]
    assert {(one.place, one.attempts) for one in peeked} == {(Place.READY, 0)}
    ready: Any = pool.rig.redis.lrange(pool.rig.key("ready:5"), 0, -1)
    assert [UUID(bytes=one) for one in reversed(ready)] == sent


def test_a_process_that_crashes_is_replaced_and_the_others_go_on(pool: Pool) -> None:
    pool.start(concurrency=2)
    (first, second) = pool.rig.processes("worker")
    os.kill(first, signal.SIGKILL)
    sent = pool.send(200)
    wait_until(lambda: pool.main.delivered(*sent))
    wait_until(lambda: len(pool.rig.processes("worker")) == 2)
    assert second in pool.rig.processes("worker")
    assert '"process.died"' in pool.rig.log("worker")


def test_a_flood_in_one_domain_does_not_keep_another_waiting(pool: Pool) -> None:
    pool.main.pause = 0.05
    flood = set(pool.send(6000))
    pool.start()
    wait_until(lambda: len(pool.main.attempts) > 400)
    quiet = pool.send(5, queue=OTHER)
    before = len(pool.main.attempts)
    wait_until(lambda: pool.main.delivered(*quiet))
    meanwhile = [one for one in pool.main.attempts[before:] if one.message_id in flood]
    assert len(meanwhile) <= 4 * BATCH, "two turns of each of its loops"


def test_a_main_server_that_is_away_is_asked_now_and_then_and_drained_at_once(pool: Pool) -> None:
    pool.start(concurrency=2)
    before = pool.rig.log("worker").count('"delivery.interrupted"')
    pool.main.end()
    sent = pool.send(500)
    cpu, commands = pool.cpu_seconds(), pool.commands()
    time.sleep(3)
    assert pool.cpu_seconds() - cpu < 1.0
    assert pool.commands() - commands < 3 * 200
    pool.main.begin()
    wait_until(lambda: pool.rig.waiting() == 0, 2.0)
    assert {one.number for one in pool.main.attempts} == {1}
    assert pool.main.delivered(*sent)
    assert pool.rig.log("worker").count('"delivery.interrupted"') - before <= 2


def test_a_main_server_that_answers_5xx_uses_up_no_attempt(pool: Pool) -> None:
    pool.main.status = lambda path: 500 if path == DELIVER else 200
    pool.start()
    sent = pool.send(10)
    time.sleep(2)
    assert len(pool.main.calls) < 60
    pool.main.status = lambda _path: 200
    wait_until(lambda: pool.rig.waiting() == 0, 2.0)
    assert {one.number for one in pool.main.attempts if one.message_id in sent} == {1}


def away(rig: Rig) -> Callable[[], None]:
    rig.wires["worker-redis"].refuse()
    return rig.wires["worker-redis"].accept


def silent(rig: Rig) -> Callable[[], None]:
    rig.wires["worker-redis"].freeze()
    return rig.wires["worker-redis"].thaw


def read_only(rig: Rig) -> Callable[[], None]:
    rig.redis.replicaof("127.0.0.1", "1")

    def over() -> None:
        rig.redis.replicaof("NO", "ONE")

    return over


def loading(rig: Rig) -> Callable[[], None]:
    """It has come back, and reads its data for some seconds."""
    server = rig.redis_server
    rig.redis.mset({f"filler:{number}": "x" for number in range(2000)})
    rig.redis.bgrewriteaof()
    wait_until(lambda: not rig.redis.info("persistence")["aof_rewrite_in_progress"])
    server.kill()
    command = server.child.command
    slowly = ["--key-load-delay", "2000", "--loading-process-events-interval-bytes", "1024"]
    server.child.command = [*command, *slowly]
    server.launch()
    server.child.command = command

    def over() -> None:
        server.wait()
        rig.redis.delete(*(f"filler:{number}" for number in range(2000)))

    return over


@pytest.mark.parametrize("trouble", [away, silent, read_only, loading])
def test_redis_in_trouble_is_waited_out_quietly_and_workers_come_back_by_themselves(
    pool: Pool, trouble: Callable[[Rig], Callable[[], None]]
) -> None:
    pool.start()
    pids = pool.rig.processes("worker")
    over = trouble(pool.rig)
    try:
        cpu, commands = pool.cpu_seconds(), 0 if trouble is loading else pool.commands()
        lines = len(pool.rig.log("worker").splitlines())
        time.sleep(3)
        assert pool.cpu_seconds() - cpu < 0.5
        assert trouble is loading or pool.commands() - commands < 3 * 50
        assert len(pool.rig.log("worker").splitlines()) - lines < 10
    finally:
        over()
    sent = pool.send(20)
    wait_until(lambda: pool.main.delivered(*sent), 10)
    wait_until(lambda: pool.rig.waiting() == 0)
    assert pool.rig.processes("worker") == pids, "nobody had to be started again"
    wait_until(lambda: pool.rig.ready("worker"), 5)
