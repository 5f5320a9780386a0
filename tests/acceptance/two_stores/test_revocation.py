"""Revoking while stores and main server come and go: nobody guesses, and nobody is deaf (I8).

The same on a whole stack, and every bad certificate: tests/acceptance/certificates.
"""

import time
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from gatepost.trust.revocation import KEY
from gatepost.trust.revoked import LIMIT_SECONDS
from infra.dev.services import not_ready
from main_server.ca.authority import utc_now
from main_server.ca.revocation import renew_lists
from tests.acceptance.two_stores.revoking import (
    authority_of,
    is_revoked,
    issue_again,
    publish,
    revoke_now,
    tell,
    told,
)
from tests.acceptance.two_stores.rig import Rig, accepted, post, problem
from tests.heard import wait_until

REVOKED, UNSURE = "revoked-certificate", "unavailable"


def state(client: httpx.Client) -> str:
    """What becomes of a request now: "taken", or the problem."""
    try:
        answer = client.get("/api/v1/whoami")
    except httpx.TransportError:
        return "cut"
    return "taken" if answer.status_code == 200 else problem(answer)


def becomes(client: httpx.Client, wanted: str, seconds: float = 5.0) -> None:
    wait_until(lambda: state(client) == wanted, seconds)


def is_out(client: httpx.Client) -> None:
    """It was revoked just now: what begins later than a second after that is not taken."""
    revoked = time.monotonic()

    def refused() -> bool:
        began, found = time.monotonic(), state(client)
        assert found != "taken" or began - revoked <= LIMIT_SECONDS
        return found == REVOKED

    wait_until(refused, 5.0)


@pytest.fixture
def client(edge: Rig) -> Iterator[httpx.Client]:
    """The development client, which gets a new certificate if the test has it revoked."""
    with edge.client() as client:
        becomes(client, "taken", 10)
        yield client
    if is_revoked(edge, "client_001"):
        issue_again(edge, "client_001")
        with edge.client() as again:
            becomes(again, "taken", 10)


def test_redis_alone_tells_of_it(edge: Rig, client: httpx.Client) -> None:
    with edge.refused("proxy-main"):
        revoke_now(edge, "client_001")
        is_out(client)


def test_the_main_server_alone_tells_of_it(edge: Rig, client: httpx.Client) -> None:
    with edge.refused("proxy-redis", "main-redis"):
        revoke_now(edge, "client_001", tell_redis=False)
        is_out(client)


def test_a_redis_that_hangs_keeps_nobody_from_hearing_of_it(
    edge: Rig, client: httpx.Client
) -> None:
    with edge.frozen("proxy-redis"):
        revoke_now(edge, "client_001")
        is_out(client)


def test_when_nobody_answers_nobody_is_let_in_and_readiness_says_why(
    edge: Rig, client: httpx.Client
) -> None:
    with edge.frozen("proxy-redis", "proxy-main"):
        becomes(client, UNSURE)
        answer = client.get("/api/v1/whoami")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        wait_until(lambda: "revocations" in str(not_ready(edge.ops_port("proxy"))))
    becomes(client, "taken")


def test_a_ledger_that_hangs_has_the_main_server_refuse_and_redis_still_tells_the_edge(
    edge: Rig, client: httpx.Client
) -> None:
    with edge.hanging(edge.maria_server):
        wait_until(lambda: "revocations" in str(not_ready(edge.ops_port("main_server"))))
        assert accepted(post(client))[1] == "queue"
        assert state(client) == "taken"
    wait_until(lambda: edge.ready("main_server"), 30)


def test_a_redis_that_was_wiped_is_told_again(edge: Rig, client: httpx.Client) -> None:
    before = told(edge)
    edge.redis.delete(KEY)
    wait_until(lambda: told(edge) == before, 5)
    assert state(client) == "taken"


def test_a_wiped_redis_by_itself_lets_nobody_in(edge: Rig, client: httpx.Client) -> None:
    edge.stop("main_server")
    becomes(client, "taken")
    edge.redis.delete(KEY)
    becomes(client, UNSURE)
    edge.start("main_server")
    becomes(client, "taken")


def test_a_redis_that_went_back_in_time_frees_nobody(edge: Rig, client: httpx.Client) -> None:
    """Not while the proxy runs, and not when it starts again: it has kept what it knew."""
    before = told(edge)
    revoke_now(edge, "client_001")
    is_out(client)
    edge.stop("main_server")
    tell(edge, before)
    for _ in range(2):
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            assert state(client) == REVOKED
        wait_until(lambda: "revocations" in str(not_ready(edge.ops_port("proxy"))))
        edge.stop("proxy")
        edge.launch("proxy")
        wait_until(lambda: state(client) not in ("cut", UNSURE), 10)
    edge.start("main_server")
    wait_until(lambda: told(edge) != before, 5)


def test_a_list_past_its_time_lets_nobody_in_and_the_metric_shows_it(
    edge: Rig, client: httpx.Client
) -> None:
    edge.stop("main_server")
    renew_lists(edge.engine, [authority_of(edge)], utc_now() - timedelta(hours=25))
    publish(edge)
    becomes(client, UNSURE)
    wait_until(lambda: "past its time" in str(not_ready(edge.ops_port("proxy"))))
    url = f"http://127.0.0.1:{edge.ops_port('proxy')}/metrics"

    def seconds_left() -> float:
        lines = httpx.get(url, trust_env=False).text.splitlines()
        [line] = [one for one in lines if one.startswith("gatepost_crl_seconds_left")]
        return float(line.split()[-1])

    wait_until(lambda: -4000 < seconds_left() < -3500)
    renew_lists(edge.engine, [authority_of(edge)], utc_now())
    publish(edge)
    becomes(client, "taken")
    assert seconds_left() <= 24 * 3600
    edge.start("main_server")


def test_a_revoked_main_server_is_refused_by_those_who_call_it(whole: Rig) -> None:
    """Its connections are cut, and no new one is made: messages wait in the queue, and the portal
    tells it nothing of anybody."""
    whole.start("portal")
    with whole.client() as client:
        assert accepted(post(client))[1] == "full"
        revoke_now(whole, "main_server")
        wait_until(lambda: accepted(post(client))[1] == "queue", 5)
        wait_until(lambda: "main_server" in str(not_ready(whole.ops_port("worker"))))
        wait_until(lambda: "revocations" in str(not_ready(whole.ops_port("portal"))))
        waiting = [accepted(post(client))[0] for _ in range(5)]
        callers = ("proxy", "worker", "portal")
        wait_until(lambda: all("it was revoked" in whole.log(name) for name in callers))
        assert whole.waiting() >= len(waiting)
        issue_again(whole, "main_server")
        whole.stop("main_server")
        whole.start("main_server")
        whole.wait_delivered(waiting)
        whole.settle(client)
        wait_until(lambda: whole.ready("portal"))
    whole.stop("portal")
