"""Full means back-pressure (I11): one bucket for all processes of a proxy, with Redis and without,
and a limit on what waits undelivered; nothing that was accepted is dropped to make room."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from proxy.limits import AGAIN_SECONDS
from tests.acceptance.site import MANY
from tests.acceptance.two_stores.rig import MESSAGES, Rig, post, problem, submission
from tests.heard import wait_until

RATE, BURST = 100, 150
STALLED = RATE * AGAIN_SECONDS


@contextmanager
def changed(rig: Rig, table: str, where: str, **values: int) -> Iterator[None]:
    """These columns of the ledger, and back again."""
    columns = ", ".join(values)
    (before,) = rig.sql(f"SELECT {columns} FROM {table} WHERE {where}")
    assignments = ", ".join(f"{name} = :{name}" for name in values)
    rig.sql(f"UPDATE {table} SET {assignments} WHERE {where}", **values)
    try:
        yield
    finally:
        rig.sql(f"UPDATE {table} SET {assignments} WHERE {where}", **before)


@pytest.fixture
def two_processes(rig: Rig) -> Iterator[Rig]:
    for name in list(rig.children):
        rig.kill(name)
    rig.configure("proxy", "server", workers=2)
    with changed(rig, "clients", "name = 'client_001'", rate_per_second=RATE, burst=BURST):
        rig.start("main_server", "proxy")
        wait_until(lambda: all(allowed(rig) == BURST for _ in range(MANY)))
        rig.kill("proxy")  # what it has drawn by the limits of before would count as well
        rig.start("proxy")
        yield rig
        rig.kill("proxy")
    rig.configure("proxy", "server", workers=1)


def flood(rig: Rig, seconds: float) -> tuple[Counter[int], float]:
    """Eight connections that never let up: the answers by status, and how long it took."""
    answers: Counter[int] = Counter()
    started = time.monotonic()

    def send() -> None:
        with rig.client() as client:
            while time.monotonic() - started < seconds:
                answer = post(client)
                answers[answer.status_code] += 1
                assert answer.status_code in (202, 429), answer.text
                if answer.status_code == 429:
                    assert problem(answer) == "rate-limited"
                    assert int(answer.headers["retry-after"]) >= 1

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers, time.monotonic() - started


@pytest.mark.parametrize("away", [None, "refused", "frozen"], ids=str)
def test_processes_together_grant_no_more_than_the_rate(
    two_processes: Rig, away: str | None
) -> None:
    with ExitStack() as stack:
        if away:
            stack.enter_context(getattr(two_processes, away)("proxy-redis"))
            wait_until(lambda: durability(two_processes) == "ledger")
        else:
            wait_until(lambda: durability(two_processes) == "full")
        answers, took = flood(two_processes, 4.0)
    # Where a busy machine's Redis stalls, each grants its share by itself for a second, and what
    # the shared bucket has saved up meanwhile is granted after that.
    assert answers[202] <= BURST + RATE * took + STALLED
    assert answers[202] >= RATE * took * 0.6, "and hardly less"
    assert answers[429] > answers[202] / 10


def allowed(rig: Rig) -> int:
    """What whichever process is asked goes by: until it has heard, what a bundle of before said."""
    with rig.client() as client:
        policy = post(client).headers["ratelimit-policy"]
    return int(policy.partition("q=")[2].partition(";")[0])


def durability(rig: Rig) -> str | None:
    with rig.client() as client:
        found: str | None = post(client).json().get("durability")
        return found


def test_senders_see_where_they_stand(edge: Rig) -> None:
    with edge.client() as client:
        answer = post(client)
        assert answer.headers["ratelimit-policy"].startswith('"client";q=')
        assert answer.headers["ratelimit"].startswith('"client";r=')


def test_above_the_limit_on_what_waits_senders_are_asked_to_come_back(edge: Rig) -> None:
    taken: list[str] = []

    def full() -> bool:
        with edge.client() as client:
            answer = post(client)
            if answer.status_code == 202:
                taken.append(answer.json()["message_id"])
                return False
            assert (answer.status_code, problem(answer)) == (503, "backlogged")
            assert int(answer.headers["retry-after"]) >= 1
            batch = client.post(f"{MESSAGES}/batch", json=[submission()] * 3)
            told = [batch.json()] if batch.status_code != 200 else batch.json()["items"]
            assert {one["status"] for one in told} == {503}
            return True

    with changed(edge, "domains", "domain = 'example.com'", max_undelivered=60):
        wait_until(full, 20)
        # Between two looks each process counts for all of them, and may say no a little early.
        assert len(taken) >= 50
        assert edge.waiting() == len(taken), "nothing was dropped to make room"
        edge.start("worker")
        edge.wait_delivered(taken)
        wait_until(lambda: not full(), 10)
    edge.kill("worker")
    with edge.client() as client:  # whoever comes next finds a proxy that has heard of the former
        wait_until(lambda: all(post(client).status_code == 202 for _ in range(61)), 20)
