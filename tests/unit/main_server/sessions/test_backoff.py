"""Back-off: free tries, then longer and longer pauses, never a long one."""

from datetime import datetime, timedelta

import pytest

from main_server.sessions.backoff import (
    FORGOTTEN,
    LONGEST,
    Kind,
    key_of,
    pause_after,
    wait_before,
    whereabouts,
)

NOW = datetime(2026, 1, 1)


@pytest.mark.parametrize("kind", Kind)
def test_the_first_tries_are_free(kind: Kind) -> None:
    assert pause_after(kind, kind.value - 1) == timedelta(0)
    assert pause_after(kind, kind.value) == timedelta(seconds=1)


@pytest.mark.parametrize("kind", Kind)
def test_pauses_double_up_to_a_minute(kind: Kind) -> None:
    pauses = [pause_after(kind, kind.value + more).total_seconds() for more in range(8)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert pause_after(kind, 2_000_000_000) == LONGEST


def test_the_wait_runs_from_the_last_try_and_is_forgotten() -> None:
    failures = Kind.ACCOUNT.value + 3
    assert wait_before(Kind.ACCOUNT, failures, NOW, NOW) == timedelta(seconds=8)
    later = NOW + timedelta(seconds=5)
    assert wait_before(Kind.ACCOUNT, failures, NOW, later) == timedelta(seconds=3)
    assert wait_before(Kind.ACCOUNT, failures, NOW, NOW + timedelta(seconds=8)) == timedelta(0)
    assert wait_before(Kind.ACCOUNT, 10_000, NOW, NOW + FORGOTTEN) == timedelta(0)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "x", False),
    ],
)
def test_of_a_network_of_ipv6_all_addresses_are_one(one: str, other: str, same: bool) -> None:
    assert (whereabouts(one) == whereabouts(other)) is same


def test_parts_can_not_be_shifted_into_each_other() -> None:
    assert key_of(Kind.ACCOUNT, "a", "bc") != key_of(Kind.ACCOUNT, "ab", "c")
    assert key_of(Kind.ACCOUNT, "a") != key_of(Kind.ADDRESS, "a")
