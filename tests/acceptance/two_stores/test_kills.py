"""SIGKILL of each process, and of each store, at each step of the walk: at the instant at which the
step's request is sent, before it arrives or after. What was acknowledged is delivered, once."""

import hashlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import proxy.claims
from tests.acceptance.two_stores.rig import Rig, accepted, at_port, post, script
from tests.acceptance.two_stores.senders import Senders
from tests.heard import wait_until
from tests.wire import Fault
from worker.delivering import LEASE_SECONDS

LUA = Path(proxy.claims.__file__).parent / "lua"
BEFORE, AFTER = Fault.LOSE_REQUEST, Fault.LOSE_REPLY
RECLAIMED = '"leases.reclaimed"'
INSERT, UPDATE, COMMIT = b"INSERT INTO messages", b"UPDATE messages SET", b"\x03COMMIT"


def own_script(name: str) -> bytes:
    """How one of the proxy's scripts is called."""
    return hashlib.sha1((LUA / f"{name}.lua").read_bytes()).hexdigest().encode()


def long_request(request: bytes) -> bool:
    """Something with an envelope in it, on a wire on which nothing can be read."""
    return len(request) > 700


STEPS: dict[str, tuple[str, bytes | None]] = {
    "claim": ("proxy-redis", own_script("claim")),
    "register": ("proxy-main", None),
    "enqueue": ("proxy-redis", script("enqueue")),
    "settle the claim": ("proxy-redis", own_script("settle_claim")),
}


@pytest.mark.parametrize("fault", [BEFORE, AFTER], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_proxy_killed_at_a_step_leaves_one_message_when_the_post_is_repeated(
    whole: Rig, step: str, fault: Fault
) -> None:
    wire, holds = STEPS[step]
    with whole.client() as client:
        leader = whole.children["proxy"].pid

        def rule(request: bytes) -> Fault:
            if not (holds in request if holds else long_request(request)):
                return Fault.NONE
            os.killpg(leader, signal.SIGKILL)
            return fault

        whole.wires[wire].rule = rule
        with pytest.raises(httpx.HTTPError):
            post(client, key="once")
    whole.wires[wire].heal()
    whole.wait_killed("proxy")

    whole.start("proxy")
    for claim in whole.redis.keys("gatepost:idempotency:*"):
        whole.redis.hset(claim, "until", "1")  # the fifteen seconds of the dead one are over
    with whole.client() as client:
        message_id, _ = accepted(post(client, key="once"))
        again, _ = accepted(post(client, key="once"))
    assert again == message_id
    whole.wait_delivered([message_id])
    wait_until(lambda: whole.waiting() == 0)
    assert whole.sql("SELECT COUNT(*) n FROM messages")[0]["n"] == 1
    assert whole.delivered_twice([message_id]) == []


@pytest.fixture
def traffic(whole: Rig) -> Iterator[Senders]:
    with Senders(whole) as senders:
        senders.flow()
        yield senders
    assert senders.strange == []


def after(statement: bytes, then: Callable[[], None], fault: Fault) -> Callable[[bytes], Fault]:
    """A rule for the ledger's wire: the commit that follows such a statement suffers the fault."""
    armed = False

    def rule(request: bytes) -> Fault:
        nonlocal armed
        armed = armed or statement in request
        if not (armed and COMMIT in request):
            return Fault.NONE
        then()
        return fault

    return rule


def end(rig: Rig, senders: Senders, seconds: float = 20.0) -> None:
    """All that was promised is delivered, once."""
    rig.wait_delivered(list(senders.promised), seconds)
    assert rig.delivered_twice(list(senders.promised)) == []


@pytest.mark.parametrize("fault", [BEFORE, AFTER], ids=["before", "after"])
@pytest.mark.parametrize("statement", [INSERT, UPDATE], ids=["register", "deliver"])
def test_a_main_server_killed_at_its_commit_loses_and_doubles_nothing(
    whole: Rig, traffic: Senders, statement: bytes, fault: Fault
) -> None:
    leader = whole.children["main_server"].pid

    def kill() -> None:
        os.killpg(leader, signal.SIGKILL)

    whole.wires["main-ledger"].rule = after(statement, kill, fault)
    whole.wait_killed("main_server")
    whole.wires["main-ledger"].heal()
    traffic.flow()
    whole.start("main_server")
    traffic.flow()
    traffic.__exit__()
    end(whole, traffic)


def test_each_store_killed_in_mid_commit_loses_and_doubles_nothing(
    whole: Rig, traffic: Senders
) -> None:
    """They come back from their files: what was acknowledged is in them."""
    redis, maria = whole.redis_server, whole.maria_server

    def kill_redis(request: bytes) -> Fault:
        if script("enqueue") in request:
            os.killpg(redis.pid, signal.SIGKILL)
        return Fault.NONE

    for _ in range(2):
        whole.wires["proxy-redis"].rule = kill_redis
        wait_until(lambda: redis.child.exit_code() is not None)
        whole.wires["proxy-redis"].heal()
        redis.kill()
        traffic.flow()
        redis.start()
        traffic.flow()

        whole.wires["main-ledger"].rule = after(
            INSERT, lambda: os.killpg(maria.pid, signal.SIGKILL), Fault.NONE
        )
        wait_until(lambda: maria.child.exit_code() is not None)
        whole.wires["main-ledger"].heal()
        maria.kill()
        traffic.flow()
        maria.start()
        traffic.flow()
    traffic.__exit__()
    end(whole, traffic, 30.0)
    assert traffic.of("ledger")
    assert traffic.of("queue")


def die_with_messages(
    rig: Rig, wire: str, seen: Callable[[bytes], bool], fault: Fault
) -> list[str]:
    """A worker is killed as it sends that; the messages that were sent meanwhile."""
    rig.launch("worker")
    wait_until(lambda: rig.ready("worker"), 20)
    leader, sent = rig.children["worker"].pid, list[str]()

    def rule(request: bytes) -> Fault:
        if not (sent and seen(request)):
            return Fault.NONE
        os.killpg(leader, signal.SIGKILL)
        return fault

    rig.wires[wire].rule = rule
    with rig.client() as client:
        while rig.children["worker"].exit_code() is None:
            sent.append(accepted(post(client))[0])
    rig.wait_killed("worker")
    rig.wires[wire].heal()
    return sent


WORKER_STEPS: list[tuple[str, Callable[[bytes], bool], Fault]] = [
    ("worker-redis", lambda request: script("reserve") in request, AFTER),
    ("worker-main", long_request, BEFORE),
    ("worker-main", long_request, AFTER),
    ("worker-redis", lambda request: script("acknowledge") in request, BEFORE),
    ("worker-redis", lambda request: script("acknowledge") in request, AFTER),
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
    sent += [one for step in WORKER_STEPS for one in die_with_messages(edge, *step)]
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
