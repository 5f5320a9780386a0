"""SIGKILL of workers at each step of the walk: at the instant at which the step's request is sent,
before it arrives or after. Whatever they held comes to its end, and once."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple
from uuid import UUID

import pytest

from tests.acceptance.two_stores.by_hand import (
    enqueue_expired,
    enqueue_unknown,
    enqueue_unreadable,
)
from tests.acceptance.two_stores.killing import (
    AFTER,
    BEFORE,
    Seen,
    end_leases,
    holds,
    kill_service,
    long_request,
)
from tests.acceptance.two_stores.rig import Rig, accepted, at_port, post, script
from tests.acceptance.two_stores.senders import Senders
from tests.heard import wait_until
from tests.wire import Fault
from worker.delivering import LEASE_SECONDS

RECLAIMED = '"leases.reclaimed"'


def die_with_messages(rig: Rig, wire: str, seen: Seen, fault: Fault) -> list[str]:
    """A worker is killed as it sends that; the messages that were sent meanwhile."""
    rig.launch("worker")
    wait_until(lambda: rig.ready("worker"), 20)
    sent = list[str]()
    kill_service(rig, "worker", wire, lambda request: bool(sent) and seen(request), fault)
    with rig.client() as client:
        while rig.children["worker"].exit_code() is None:
            sent.append(accepted(post(client))[0])
    rig.wait_killed("worker")
    rig.wires[wire].heal()
    return sent


STEPS: list[tuple[str, Seen, Fault]] = [
    ("worker-redis", holds(script("reserve")), BEFORE),
    ("worker-redis", holds(script("reserve")), AFTER),
    ("worker-main", long_request, BEFORE),
    ("worker-main", long_request, AFTER),
    ("worker-redis", holds(script("acknowledge")), BEFORE),
    ("worker-redis", holds(script("acknowledge")), AFTER),
]


def settle_too_late(rig: Rig) -> list[str]:
    """A worker delivers messages, and its settlement gets lost on the way for longer than a lease:
    until the wire "late-redis" is thawed."""
    wire = rig.wire("late-redis", rig.redis_server.port)
    url = rig.setting("worker", "redis", "url")
    rig.configure("worker", "redis", url=at_port(url, wire.port))
    rig.start("worker")
    rig.set_aside("worker", "late")
    rig.configure("worker", "redis", url=url)
    sent, held = list[str](), threading.Event()

    def rule(request: bytes) -> Fault:
        if held.is_set() or script("acknowledge") not in request:
            return Fault.NONE
        held.set()
        return Fault.HOLD

    with rig.client() as client:
        wire.rule = rule
        while not held.is_set():
            sent.append(accepted(post(client))[0])
    return sent


def test_workers_killed_at_each_step_and_then_a_ledger_that_hangs_for_longer_than_a_lease(
    edge: Rig,
) -> None:
    """Workers die one after the other, with messages in their hands, which are back a second after
    the lease; the ledger is silent meanwhile, and messages go on being accepted. A settlement that
    arrives after all that settles nothing."""
    sent = settle_too_late(edge)
    sent += [one for step in STEPS for one in die_with_messages(edge, *step)]
    held = set(edge.redis.zrange(edge.key("leased"), 0, -1))
    assert held
    edge.start("worker")
    with edge.hanging(edge.maria_server), Senders(edge, 1) as senders:
        senders.flow()
        time.sleep(LEASE_SECONDS + 1)
        reclaimed = [json.loads(one) for one in edge.log("worker").splitlines() if RECLAIMED in one]
        assert sum(one["count"] for one in reclaimed) >= len(held)
        assert len(senders.of("queue")) > 200
    returned = time.monotonic()
    sent += senders.promised
    # Drained within 2 s of its return; what hung in the main server may take its time-out.
    edge.wait_delivered(sent, 12.0)
    wait_until(lambda: not edge.waiting() and not edge.exposed(), 5.0)
    assert time.monotonic() - returned < 15.0
    assert senders.strange == []

    more = edge.redis.info("commandstats")["cmdstat_evalsha"]["calls"]
    edge.wires["late-redis"].thaw()
    wait_until(lambda: edge.redis.info("commandstats")["cmdstat_evalsha"]["calls"] > more + 20)
    assert edge.states(sent) == {"delivered": len(sent)}
    assert edge.delivered_twice(sent) == []
    assert edge.waiting() == 0


@contextmanager
def refusing(rig: Rig) -> Iterator[None]:
    """A ledger that can't store a delivery for now, and workers that try it again soon."""
    rig.configure("worker", "worker", retry_interval=0.2)
    rig.sql(
        "CREATE TRIGGER refuse BEFORE UPDATE ON messages FOR EACH ROW IF NEW.status = 'delivered'"
        " THEN SIGNAL SQLSTATE '22001' SET MYSQL_ERRNO = 1406; END IF"
    )
    yield
    rig.sql("DROP TRIGGER refuse")
    rig.configure("worker", "worker", retry_interval=30)


@contextmanager
def losing_envelopes(rig: Rig) -> Iterator[None]:
    """A main server whose answers to long calls never come: an outage."""
    rig.wires["worker-main"].rule = lambda call: AFTER if long_request(call) else Fault.NONE
    yield
    rig.wires["worker-main"].heal()


def post_one(rig: Rig) -> str:
    with rig.client() as client:
        return accepted(post(client))[0]


def enqueue_failed(rig: Rig) -> str:
    """Its row says what is wrong with it, so the one long call about it is `settle`."""
    message_id = enqueue_unreadable(rig)
    rig.redis.sadd(rig.key("exposed"), UUID(message_id).bytes)
    rig.wait_states([message_id], failed=1)
    return message_id


class Scene(NamedTuple):
    """A message that doesn't come through at once, and the steps at which workers die of it."""

    send: Callable[[Rig], str]
    steps: list[tuple[str, Seen]]
    ends: tuple[str, str | None] = ("delivered", None)
    noted: str | None = None
    """What the ledger has to say of an attempt, whoever died."""
    meanwhile: Callable[[Rig], AbstractContextManager[None]] = lambda _rig: nullcontext()


def redis_steps(*names: str) -> list[tuple[str, Seen]]:
    return [("worker-redis", holds(script(name))) for name in names]


SCENES = {
    "unreadable": Scene(
        enqueue_failed,
        [("worker-main", long_request), *redis_steps("dead_letter")],
        ("failed", "unreadable"),
        "failed",
    ),
    "expired": Scene(enqueue_expired, redis_steps("expire", "dead_letter"), ("failed", "expired")),
    "refused for now": Scene(
        post_one,
        redis_steps("retry_later", "release_due"),
        noted="retry",
        meanwhile=refusing,
    ),
    "an outage": Scene(enqueue_unknown, redis_steps("give_back"), meanwhile=losing_envelopes),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_worker_killed_with_what_does_not_come_through_loses_and_doubles_nothing(
    edge: Rig, name: str
) -> None:
    scene, sent = SCENES[name], list[str]()
    with scene.meanwhile(edge):
        for wire, seen in scene.steps:
            for fault in (BEFORE, AFTER):
                sent.append(scene.send(edge))
                edge.launch("worker")
                kill_service(edge, "worker", wire, seen, fault)
                edge.wait_killed("worker")
                edge.wires[wire].heal()
                end_leases(edge)
    edge.start("worker")
    edge.wait_states(sent, **{scene.ends[0]: len(sent)})
    assert {row["reason"] for row in edge.rows(sent).values()} == {scene.ends[1]}
    assert edge.delivered_twice(sent) == []
    wait_until(lambda: edge.waiting() == 0)
    noted = edge.sql("SELECT message_id FROM attempts WHERE outcome = :said", said=scene.noted)
    told = {str(UUID(bytes=row["message_id"])) for row in noted}
    assert told == (set(sent) if scene.noted else set())
    dead = edge.redis.zcard(edge.key("dead"))
    assert dead == (len(sent) if scene.ends[0] == "failed" else 0)
