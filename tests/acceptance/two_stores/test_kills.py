"""SIGKILL of the proxy and of the main server at each step of the walk: at the instant at which the
step's request is sent, before it arrives or after. What was acknowledged is delivered, once.

The workers: test_killed_workers.py. The stores: test_killed_stores.py."""

from collections.abc import Callable, Iterator
from uuid import UUID

import httpx
import pytest

from tests.acceptance.two_stores.by_hand import enqueue_unreadable
from tests.acceptance.two_stores.killing import (
    AFTER,
    ATTEMPTS,
    BEFORE,
    INSERT,
    UPDATE,
    Seen,
    commit_of,
    end_well,
    holds,
    kill_service,
    long_request,
    own_script,
)
from tests.acceptance.two_stores.rig import Rig, accepted, post, script
from tests.acceptance.two_stores.senders import Senders
from tests.heard import wait_until
from tests.wire import Fault

either_fault = pytest.mark.parametrize("fault", [BEFORE, AFTER], ids=["before", "after"])

WITH_A_KEY: dict[str, tuple[str, Seen]] = {
    "claim": ("proxy-redis", own_script("claim")),
    "register": ("proxy-main", long_request),
    "enqueue": ("proxy-redis", holds(script("enqueue"))),
    "settle the claim": ("proxy-redis", own_script("settle_claim")),
}


@either_fault
@pytest.mark.parametrize("step", WITH_A_KEY)
def test_a_proxy_killed_at_a_step_leaves_one_message_when_the_post_is_repeated(
    whole: Rig, step: str, fault: Fault
) -> None:
    wire, seen = WITH_A_KEY[step]
    with whole.client() as client:
        kill_service(whole, "proxy", wire, seen, fault)
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


WITHOUT_A_KEY: dict[str, tuple[str, Seen, list[str]]] = {
    "register": ("proxy-main", long_request, []),
    "enqueue": ("proxy-redis", holds(script("enqueue")), []),
    "expose": ("proxy-redis", holds(script("expose")), ["proxy-main"]),
}
"""And the wires on which nothing passes meanwhile: exposed is what the ledger doesn't answer of."""


@either_fault
@pytest.mark.parametrize("step", WITHOUT_A_KEY)
def test_a_proxy_killed_at_a_step_of_a_post_without_a_key_leaves_it_whole_or_not_at_all(
    whole: Rig, step: str, fault: Fault
) -> None:
    """Nobody was told anything. What a store has all the same comes to its end, and once."""
    wire, seen, silent = WITHOUT_A_KEY[step]
    with whole.client() as client, whole.frozen(*silent):
        kill_service(whole, "proxy", wire, seen, fault)
        with pytest.raises(httpx.HTTPError):
            post(client)
        whole.wait_killed("proxy")
    whole.wires[wire].heal()

    whole.start("proxy")
    with whole.client() as client:
        whole.settle(client)
    whole.age()
    wait_until(lambda: not whole.waiting() and not whole.exposed())
    ids = [str(UUID(bytes=row["message_id"])) for row in whole.sql("SELECT * FROM messages")]
    whole.wait_delivered(ids)
    assert whole.delivered_twice(ids) == []
    told = step == "expose" or fault is AFTER
    assert len(ids) >= 2 or not told, "what a store had taken is gone"


@pytest.fixture
def traffic(whole: Rig) -> Iterator[Senders]:
    with Senders(whole) as senders:
        senders.flow()
        yield senders
    assert senders.strange == []


COMMITS = {"register": INSERT, "deliver": UPDATE, "settle": ATTEMPTS}


@either_fault
@pytest.mark.parametrize("step", COMMITS)
def test_a_main_server_killed_at_its_commit_loses_and_doubles_nothing(
    whole: Rig, traffic: Senders, step: str, fault: Fault
) -> None:
    kill_service(whole, "main_server", "main-ledger", commit_of(COMMITS[step]), fault)
    failing = [enqueue_unreadable(whole)] if step == "settle" else []
    whole.wait_killed("main_server")
    whole.wires["main-ledger"].heal()
    traffic.flow()
    whole.start("main_server")
    traffic.flow()
    traffic.__exit__()
    end_well(whole, traffic)
    whole.wait_states(failing, **({"failed": 1} if failing else {}))
    assert len(whole.sql("SELECT * FROM attempts WHERE outcome = 'failed'")) == len(failing)


def post_without(rig: Rig, wire: str) -> list[str]:
    with rig.client() as client, rig.refused(wire):
        return [accepted(post(client))[0] for _ in range(10)]


RECONCILING: dict[str, tuple[Callable[[Rig], list[str]], Seen]] = {
    "enqueue": (lambda rig: post_without(rig, "proxy-redis"), holds(script("enqueue"))),
    "registered": (lambda rig: post_without(rig, "proxy-main"), holds(b"SREM")),
}
"""What one store alone has taken; and the step in which the reconciler is done with it."""


@either_fault
@pytest.mark.parametrize("step", RECONCILING)
def test_a_reconciler_killed_at_a_step_loses_and_doubles_nothing(
    edge: Rig, step: str, fault: Fault
) -> None:
    send, seen = RECONCILING[step]
    kill_service(edge, "main_server", "main-redis", seen, fault)
    sent = send(edge)
    edge.age()
    edge.wait_killed("main_server")
    edge.wires["main-redis"].heal()
    edge.start("main_server")
    wait_until(lambda: edge.waiting() == len(sent) and not edge.exposed())
    assert edge.states(sent) == {"queued": len(sent)}
    edge.start("worker")
    edge.wait_delivered(sent)
    assert edge.delivered_twice(sent) == []
    wait_until(lambda: edge.waiting() == 0)
