"""SIGKILL of each store at each step of the walk, under traffic: as the step's request reaches it,
or as its answer leaves it. It comes back from its files, and what was acknowledged is in them."""

from dataclasses import dataclass, field
from uuid import UUID

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
    kill_store,
    own_script,
    wait_store_killed,
)
from tests.acceptance.two_stores.rig import Rig, script
from tests.acceptance.two_stores.senders import Senders


@dataclass(frozen=True)
class Step:
    """What is seen on which wire; `silent` are those on which nothing passes until then."""

    wire: str
    seen: Seen
    keyed: bool = False
    silent: list[str] = field(default_factory=list)


REDIS_STEPS = {
    "claim": Step("proxy-redis", own_script("claim"), keyed=True),
    "settle the claim": Step("proxy-redis", own_script("settle_claim"), keyed=True),
    "enqueue": Step("proxy-redis", holds(script("enqueue"))),
    "expose": Step("proxy-redis", holds(script("expose")), silent=["proxy-main"]),
    "reserve": Step("worker-redis", holds(script("reserve"))),
    "acknowledge": Step("worker-redis", holds(script("acknowledge"))),
}


@pytest.mark.parametrize("name", REDIS_STEPS)
def test_a_redis_killed_at_a_step_loses_and_doubles_nothing(whole: Rig, name: str) -> None:
    step = REDIS_STEPS[name]
    redis = whole.redis_server
    with Senders(whole, keyed=step.keyed) as traffic:
        for fault in (BEFORE, AFTER):
            traffic.flow()
            with whole.frozen(*step.silent):
                kill_store(whole, redis, step.wire, step.seen, fault)
                wait_store_killed(whole, redis, step.wire)
            traffic.flow()
            redis.start()
            traffic.flow()
    end_well(whole, traffic)
    assert traffic.of("ledger")


COMMITS = {"register": INSERT, "deliver": UPDATE, "settle": ATTEMPTS}


@pytest.mark.parametrize("name", COMMITS)
def test_a_ledger_killed_at_a_commit_loses_and_doubles_nothing(whole: Rig, name: str) -> None:
    maria, failing = whole.maria_server, list[str]()
    with Senders(whole) as traffic:
        for fault in (BEFORE, AFTER):
            traffic.flow()
            kill_store(whole, maria, "main-ledger", commit_of(COMMITS[name]), fault)
            if name == "settle":
                failing.append(enqueue_unreadable(whole))
            wait_store_killed(whole, maria, "main-ledger")
            traffic.flow()
            maria.start()
            traffic.flow()
    end_well(whole, traffic)
    assert traffic.of("queue")
    failed = whole.sql("SELECT message_id FROM messages WHERE status = 'failed'")
    assert {row["message_id"] for row in failed} == {UUID(one).bytes for one in failing}
    tried = whole.sql("SELECT message_id FROM attempts WHERE outcome = 'failed'")
    assert {row["message_id"] for row in tried} == {row["message_id"] for row in failed}
