"""The rate limit: a token bucket whose arithmetic can be done by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.bundle import KnownClient
from gatepost.errors import RateLimited
from proxy.limits import Limits
from proxy.settings import RateLimiting
from tests.factories import known_client


def limits(processes: int = 1, **rules: int | bool) -> Limits:
    return Limits(processes, RateLimiting.model_validate(rules))


def granted(one: Limits, client: KnownClient, tries: int, now: float) -> int:
    """How many of so many tries at that moment are let through."""
    passed = 0
    for _ in range(tries):
        try:
            one.take(client, now)
        except RateLimited:
            continue
        passed += 1
    return passed


def test_a_burst_passes_and_then_the_rate() -> None:
    one, client = limits(), known_client(rate_per_second=10, burst=50)
    assert granted(one, client, 100, now=0.0) == 50
    assert granted(one, client, 100, now=0.99) == 9
    assert granted(one, client, 100, now=2.0) == 11
    assert granted(one, client, 100, now=1000.0) == 50, "no more is saved up than the burst"


def test_a_refusal_says_when_there_is_a_token_again() -> None:
    one, client = limits(), known_client(rate_per_second=1, burst=1)
    one.take(client, 0.0)
    with pytest.raises(RateLimited, match="may send 1 messages a second") as refused:
        one.take(client, 0.25)
    assert refused.value.retry_after == 1
    one.take(client, 1.0)


def test_a_slow_client_is_told_a_long_wait_and_the_wait_is_enough() -> None:
    one, client = limits(processes=4), known_client(rate_per_second=1, burst=1)
    one.take(client, 0.0)
    with pytest.raises(RateLimited) as refused:
        one.take(client, 0.0)
    assert refused.value.retry_after == 4
    one.take(client, 4.0)


def test_a_refusal_costs_no_token() -> None:
    one, client = limits(), known_client(rate_per_second=1, burst=1)
    one.take(client, 0.0)
    assert granted(one, client, 100, now=0.5) == 0
    assert granted(one, client, 100, now=1.0) == 1


def test_processes_share_the_rate_between_them() -> None:
    client = known_client(rate_per_second=10, burst=40)
    shares = [limits(processes=4) for _ in range(4)]
    assert sum(granted(one, client, 100, now=0.0) for one in shares) == 40
    assert sum(granted(one, client, 100, now=2.0) for one in shares) == 20


def test_clients_do_not_share() -> None:
    one = limits()
    assert granted(one, known_client(burst=3, rate_per_second=1), 10, 0.0) == 3
    assert granted(one, known_client(burst=3, rate_per_second=1, name="other"), 10, 0.0) == 3
    assert granted(one, known_client(burst=3, rate_per_second=1, domain="b.example"), 10, 0.0) == 3


def test_two_certificates_of_one_client_share() -> None:
    one = limits()
    assert granted(one, known_client("aa" * 32, burst=3, rate_per_second=1), 2, 0.0) == 2
    assert granted(one, known_client("bb" * 32, burst=3, rate_per_second=1), 2, 0.0) == 1


def test_a_rate_of_nothing_lets_nothing_more_through() -> None:
    one, client = limits(), known_client(rate_per_second=0, burst=1)
    assert granted(one, client, 10, now=0.0) == 1
    with pytest.raises(RateLimited) as refused:
        one.take(client, 1e6)
    assert refused.value.retry_after == 3600


def test_the_proxys_own_ceiling_holds_for_everyone() -> None:
    one, client = limits(max_requests=100, window_seconds=60), known_client()
    assert granted(one, client, 1000, now=0.0) == 100
    assert granted(one, client, 1000, now=6.0) == 10
    slow = known_client(name="slow", rate_per_second=1, burst=5)
    assert granted(one, slow, 1000, now=0.0) == 5, "the ceiling raises nobody's rate"


def test_it_can_be_turned_off() -> None:
    assert granted(limits(enabled=False), known_client(burst=1), 100, now=0.0) == 100


@given(
    st.lists(st.floats(min_value=0, max_value=5), min_size=1, max_size=200),
    st.integers(min_value=1, max_value=50),
    st.integers(min_value=1, max_value=50),
)
def test_never_more_than_burst_and_rate_together(waits: list[float], rate: int, burst: int) -> None:
    one, client, now, passed = limits(), known_client(rate_per_second=rate, burst=burst), 0.0, 0
    for wait in waits:
        now += wait
        passed += granted(one, client, 3, now)
        assert passed <= burst + rate * now + 1e-6
