"""The commit in two stores, by a real proxy on wires: what it says is durable is, and what it says
of an outage is so (I1, 3.5)."""

import time

import httpx
import pytest

from proxy.bundles import REFRESH_SECONDS
from tests.acceptance.two_stores.rig import (
    MESSAGES,
    Rig,
    accepted,
    post,
    problem,
    script,
    submission,
    timed,
)
from tests.heard import wait_until
from tests.wire import Fault

LEDGER, QUEUE, RECONCILER = "proxy-main", "proxy-redis", "main-redis"


def posts(client: httpx.Client, count: int) -> list[tuple[str, str]]:
    return [accepted(post(client)) for _ in range(count)]


def test_full_is_in_both(edge: Rig) -> None:
    with edge.client() as client:
        told = posts(client, 10)
    ids = [one for one, _ in told]
    assert {durability for _, durability in told} == {"full"}
    assert edge.states(ids) == {"queued": 10}
    assert edge.waiting() == 10
    assert edge.exposed() == set()


@pytest.mark.parametrize("how", ["frozen", "refused"])
def test_without_the_ledger_the_queue_has_it_exposed_before_the_answer(edge: Rig, how: str) -> None:
    with edge.client() as client:
        told, took = [], []
        with getattr(edge, how)(LEDGER), edge.frozen(RECONCILER):
            started = time.monotonic()
            while time.monotonic() - started < 2.5:
                answer, seconds = timed(lambda: post(client))
                message_id, durability = accepted(answer)
                assert message_id in edge.exposed()
                told.append((message_id, durability))
                took.append(seconds)
        ids = [one for one, _ in told]
        assert {durability for _, durability in told} == {"queue"}
        assert max(took) < 1.0
        assert sorted(took)[len(took) // 2] < 0.05, "the breaker skips it, most of the time"
        assert edge.waiting() == len(ids)
        # Registered within 5 s of both being reachable, by the reconciler.
        edge.wait_states(ids, 5.0, queued=len(ids))
        wait_until(lambda: not edge.exposed(), 5.0)
        edge.settle(client)


@pytest.mark.parametrize("how", ["frozen", "refused"])
def test_without_the_queue_the_ledger_has_it(edge: Rig, how: str) -> None:
    with edge.client() as client:
        told, took = [], []
        with getattr(edge, how)(QUEUE):
            started = time.monotonic()
            while time.monotonic() - started < 2.5:
                answer, seconds = timed(lambda: post(client))
                told.append(accepted(answer))
                took.append(seconds)
        ids = [one for one, _ in told]
        assert {durability for _, durability in told} == {"ledger"}
        assert max(took) < 1.0
        assert sorted(took)[len(took) // 2] < 0.05, "the breaker skips it, most of the time"
        assert edge.states(ids) == {"queued": len(ids)}
        edge.settle(client)


def test_refused_by_both_nothing_is_kept(edge: Rig) -> None:
    with edge.client() as client:
        with edge.refused(LEDGER, QUEUE):
            told = []
            for _ in range(20):
                answer, seconds = timed(lambda: post(client))
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) >= 1
                assert seconds < 1.0
                told.append(problem(answer))
        # What a connection was asked that had just broken off, nobody can know.
        assert set(told[2:]) == {"unavailable"}
        assert edge.sql("SELECT COUNT(*) n FROM messages")[0]["n"] == 0
        assert edge.waiting() == 0
        edge.settle(client)


def test_what_can_not_be_known_is_said_to_be_so_and_the_key_finds_it(edge: Rig) -> None:
    with edge.client() as client:
        edge.wires[LEDGER].rule = lambda _request: Fault.LOSE_REPLY
        edge.wires[QUEUE].lose(Fault.LOSE_REPLY, script("enqueue"))
        answer = post(client, key="once")
        assert answer.status_code == 503
        assert problem(answer) == "outcome-unknown"
        assert "retry-after" in answer.headers
        edge.wires[LEDGER].heal()
        # It was taken, in fact: who repeats it under the same key gets its id, and no second one.
        message_id, _ = accepted(post(client, key="once"))
        assert [str(one) for one in edge.rows([message_id])] == [message_id]
        assert edge.sql("SELECT COUNT(*) n FROM messages")[0]["n"] == 1
        edge.settle(client)


def test_a_batch_in_an_outage_is_answered_item_by_item(edge: Rig) -> None:
    with edge.client() as client:
        with edge.refused(LEDGER), edge.frozen(RECONCILER):
            batch = [submission() for _ in range(50)]
            items = client.post(f"{MESSAGES}/batch", json=batch).json()["items"]
            assert {item["durability"] for item in items} == {"queue"}
            assert {item["message_id"] for item in items} <= edge.exposed()
        edge.settle(client)


def test_a_proxy_starts_and_accepts_without_the_main_server(edge: Rig) -> None:
    """From the bundle that it has kept; without one it knows nobody, and says so."""
    wait_until((edge.place.folder / "proxy" / "bundle.json").exists)
    edge.stop("proxy")
    with edge.refused(LEDGER):
        edge.start("proxy")
        with edge.client() as client:
            told = posts(client, 5)
            assert {durability for _, durability in told} == {"queue"}
            edge.stop("proxy")
            (edge.place.folder / "proxy" / "bundle.json").unlink()
            edge.launch("proxy")
            wait_until(lambda: _status(edge) == 503, 20)
            assert not edge.ready("proxy")
    with edge.client() as client:
        wait_until(lambda: post(client).status_code == 202, 5 * REFRESH_SECONDS)
        ids = [one for one, _ in told]
        edge.wait_states(ids, 5.0, queued=5)


def _status(rig: Rig) -> int:
    try:
        with rig.client(timeout=2) as client:
            return post(client).status_code
    except httpx.HTTPError:
        return 0


@pytest.mark.parametrize("how", ["frozen", "refused"])
def test_a_proxy_starts_and_accepts_without_redis(edge: Rig, how: str) -> None:
    edge.stop("proxy")
    with getattr(edge, how)(QUEUE):
        edge.launch("proxy")
        wait_until(lambda: _status(edge) == 202, 20)
        with edge.client() as client:
            assert {durability for _, durability in posts(client, 5)} == {"ledger"}
    with edge.client() as client:
        edge.settle(client)
