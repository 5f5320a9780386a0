"""Redis away for longer than a lease, wiped, cut or full, while messages are accepted: everything
acknowledged is delivered once, but for what only a Redis had that was destroyed (I1).

A ledger that hangs for longer than a lease: test_killed_workers.py."""

import os
import time
from pathlib import Path
from typing import Any, cast

from tests.acceptance.two_stores.rig import MESSAGES, QUEUE, Rig, accepted, post
from tests.acceptance.two_stores.senders import Senders
from tests.heard import wait_until
from worker.delivering import LEASE_SECONDS

EXPOSED_SECONDS = 5.0
"""So long after both stores can be reached a message may still be in Redis alone (I1)."""

UNDER_WAY_SECONDS = 0.5


def test_a_redis_that_is_away_for_longer_than_a_lease(whole: Rig) -> None:
    with Senders(whole, 1) as senders:
        senders.flow()
        whole.redis_server.kill()
        time.sleep(LEASE_SECONDS + 2)
        assert len(senders.of("ledger")) > 200
        whole.redis_server.start()
        started = time.monotonic()
        senders.flow()
        senders.__exit__()
    ids = list(senders.promised)
    whole.wait_delivered(ids, 15.0)
    assert time.monotonic() - started < 20.0
    assert whole.delivered_twice(ids) == []
    assert senders.strange == []


def test_a_wiped_redis_loses_nothing_that_the_ledger_has(whole: Rig) -> None:
    """Nor what only Redis had for longer than 5 s. What is lost is counted."""
    wipes: list[float] = []
    with Senders(whole) as senders:
        with whole.frozen("worker-redis"):
            take_without_ledger(whole, senders)
            older, since = set(senders.of("queue")), time.monotonic()
            assert len(older) >= 20
            wait_until(lambda: time.monotonic() > since + EXPOSED_SECONDS, 10)
            take_without_ledger(whole, senders)
            wipe(whole, wipes)
            senders.flow(50)
        for _ in range(3):
            wipe(whole, wipes)
            senders.flow(50)
        senders.__exit__()
    excused = {one for one in senders.of("queue") if just_before(wipes, senders.at[one])}
    assert not excused & older
    kept = [one for one in senders.promised if one not in excused]
    assert len(kept) > 150
    whole.age()
    whole.wait_delivered(kept, 20.0)
    assert whole.delivered_twice(kept) == []
    states = whole.states(list(excused))
    lost = states.get("missing", 0)
    assert states.get("delivered", 0) + lost == len(excused)
    print(f"{lost} of {len(senders.promised)} lost, of {len(excused)} that may be")


def take_without_ledger(rig: Rig, senders: Senders) -> None:
    with rig.refused("proxy-main"):
        senders.flow(40)


def wipe(rig: Rig, wipes: list[float]) -> None:
    rig.redis.flushall()
    wipes.append(time.monotonic())


def just_before(wipes: list[float], told: float) -> bool:
    """Whether a message was exposed for less than 5 s, or its 202 was under way, at a wipe."""
    return any(-UNDER_WAY_SECONDS < wipe - told < EXPOSED_SECONDS for wipe in wipes)


def test_what_only_a_destroyed_redis_had_is_what_is_lost_and_nothing_else(edge: Rig) -> None:
    """No worker yet, and a reconciler that can't reach Redis: the worst moment there is."""
    with edge.client() as client:
        both = [accepted(post(client)) for _ in range(20)]
        with edge.refused("proxy-main"):
            in_time = [accepted(post(client)) for _ in range(20)]
            # Within 5 s of both being reachable these are no longer exposed, and survive.
            edge.wait_states([one for one, _ in in_time], 5.0, queued=20)
            wait_until(lambda: not edge.exposed(), 5.0)
            with edge.frozen("main-redis"):
                exposed = [accepted(post(client)) for _ in range(20)]
                edge.redis.flushall()
        edge.settle(client)
        with edge.refused("proxy-redis"):
            ledger = [accepted(post(client)) for _ in range(20)]
    said = [{how for _, how in told} for told in (both, in_time, exposed, ledger)]
    assert said == [{"full"}, {"queue"}, {"queue"}, {"ledger"}]
    edge.age()
    edge.start("worker")
    edge.wait_delivered([one for one, _ in both + in_time + ledger], 20.0)
    lost = [one for one, _ in exposed]
    assert edge.states(lost) == {"missing": len(lost)}


def test_an_aof_that_lost_its_end_loses_no_message(edge: Rig) -> None:
    """As after a fail-over to a replica that lagged: the epoch is there, the last messages not."""
    (aof,) = Path(edge.redis_server.folder, "appendonlydir").glob("*.incr.aof")
    before = aof.stat().st_size
    with edge.client() as client:
        told = [accepted(post(client)) for _ in range(120)]
    # On a busy machine the ledger may have missed its 100 ms: what only Redis had may be gone.
    ids = [one for one, said in told if said == "full"]
    assert len(ids) > 60
    edge.redis_server.kill()
    os.truncate(aof, before + (aof.stat().st_size - before) * 6 // 10)
    edge.redis_server.start()
    assert 0 < edge.waiting() < 120
    edge.age()
    edge.start("worker")
    edge.wait_delivered(ids, 20.0)
    assert edge.delivered_twice(ids) == []


def test_a_status_does_not_go_back_when_redis_is_set_back_without_the_ledger(whole: Rig) -> None:
    """What was delivered may be in the queue again, just as it was when it still waited."""
    with whole.client() as client:
        with whole.frozen("worker-redis"):
            sent = [accepted(post(client))[0] for _ in range(5)]
            names: Any = whole.redis.keys(f"{{{QUEUE}/0}}:*")
            held = {name: whole.redis.dump(name) for name in names}
        whole.wait_delivered(sent)
        before = [client.get(f"{MESSAGES}/{one}").json() for one in sent]
        assert {one["status"] for one in before} == {"delivered"}
        wait_until(lambda: whole.waiting() == 0, 10)
        with whole.refused("proxy-main"), whole.frozen("worker-redis"):
            for name, value in held.items():
                whole.redis.restore(name, 0, cast(bytes, value), replace=True)
            assert whole.waiting() == 5
            after = [client.get(f"{MESSAGES}/{one}").json() for one in sent]
            said = {(one["status"], one.get("source")) for one in after}
            assert said == {("unknown", "queue")}
        assert [client.get(f"{MESSAGES}/{one}").json() for one in sent] == before


def test_a_full_redis_takes_nothing_in_and_is_drained(edge: Rig) -> None:
    with edge.client() as client:
        told = [accepted(post(client)) for _ in range(20)]
        edge.redis.config_set("maxmemory", 1)
        try:
            wait_until(lambda: post(client).json().get("durability") == "ledger", 5)
            told += [accepted(post(client)) for _ in range(20)]
            assert {said for _, said in told[-20:]} == {"ledger"}
            edge.start("worker")
            edge.wait_delivered([one for one, said in told if said == "full"], 10.0)
        finally:
            edge.redis.config_set("maxmemory", 2 << 30)
    edge.age()
    edge.wait_delivered([one for one, _ in told], 20.0)
