"""Back-off: free tries, then longer and longer pauses, never a long one."""

from datetime import datetime, timedelta

import pytest

from main_server.people.sessions.backoff import (
    EASED,
    FORGOTTEN,
    LONGEST,
    Kind,
    Tried,
    key_of,
    keys_for,
    pause_after,
    site_of,
    wait_before,
    whereabouts,
    with_another,
)

NOW = datetime(2026, 1, 1)


PAUSED = [Kind.HERE, Kind.NETWORK, Kind.SITE]


@pytest.mark.parametrize("kind", PAUSED)
def test_the_first_tries_are_free(kind: Kind) -> None:
    assert pause_after(kind, kind.value - 1) == timedelta(0)
    assert pause_after(kind, kind.value) == timedelta(seconds=1)


@pytest.mark.parametrize("kind", Kind)
def test_of_two_at_once_neither_waits_while_tries_are_free(kind: Kind) -> None:
    """The one that came first may be counted last, or be that of a server whose clock is behind."""
    other = Tried(1, NOW + timedelta(milliseconds=5))
    assert wait_before(kind, other, NOW) == timedelta(0)
    assert with_another(kind, other, NOW) == 2


@pytest.mark.parametrize("kind", PAUSED)
def test_pauses_double_up_to_a_minute(kind: Kind) -> None:
    pauses = [pause_after(kind, kind.value + more).total_seconds() for more in range(8)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert pause_after(kind, 2_000_000_000) == LONGEST


def test_the_wait_runs_from_the_last_try_and_is_forgotten() -> None:
    tried = Tried(Kind.HERE.value + 3, NOW)
    assert wait_before(Kind.HERE, tried, NOW) == timedelta(seconds=8)
    assert wait_before(Kind.HERE, tried, NOW + timedelta(seconds=5)) == timedelta(seconds=3)
    assert wait_before(Kind.HERE, tried, NOW + timedelta(seconds=8)) == timedelta(0)
    for kind in Kind:
        assert wait_before(kind, Tried(10_000, NOW), NOW + FORGOTTEN) == timedelta(0)
        assert with_another(kind, Tried(10_000, NOW), NOW + FORGOTTEN) == 1


def test_the_budget_of_an_account_comes_back_bit_by_bit() -> None:
    full = Tried(Kind.ACCOUNT.value, NOW)
    assert wait_before(Kind.ACCOUNT, Tried(full.failures - 1, NOW), NOW) == timedelta(0)
    assert wait_before(Kind.ACCOUNT, full, NOW) == EASED
    assert wait_before(Kind.ACCOUNT, full, NOW + EASED) == timedelta(0)
    assert with_another(Kind.ACCOUNT, full, NOW + EASED) == full.failures
    assert with_another(Kind.ACCOUNT, full, NOW + 3 * EASED) == full.failures - 2
    assert with_another(Kind.ACCOUNT, Tried(1, NOW), NOW + 3 * EASED) == 1


def test_one_network_alone_never_uses_it_up() -> None:
    """It may try once in a minute, and more than one try is forgotten in a minute."""
    assert LONGEST > EASED
    assert max(Kind.HERE.value, Kind.NETWORK.value, Kind.SITE.value) < Kind.ACCOUNT.value


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


def test_of_a_site_of_ipv6_all_networks_are_one() -> None:
    assert site_of("2001:db8::1") == site_of("2001:db8:0:ffff::1") != site_of("2001:db8:1::1")
    assert site_of("192.0.2.1") is site_of("::ffff:192.0.2.1") is site_of("x") is None


def test_what_is_known_is_counted_by_itself_alone() -> None:
    keys = keys_for("example.com", "alice", "2001:db8::1", "this browser")
    assert keys.keys() == {Kind.HERE}
    other = keys_for("example.com", "alice", "192.0.2.1", "another browser")
    assert keys != other
    whole = keys_for("example.com", "alice", "2001:db8::1", None)
    assert whole.keys() == set(Kind)
    assert whole[Kind.HERE] not in (keys[Kind.HERE], other[Kind.HERE])
    elsewhere = keys_for("example.com", "alice", "2001:db8:0:1::1", None)
    assert {kind for kind in Kind if whole[kind] == elsewhere[kind]} == {Kind.ACCOUNT, Kind.SITE}


def test_parts_can_not_be_shifted_into_each_other() -> None:
    assert key_of(Kind.ACCOUNT, "a", "bc") != key_of(Kind.ACCOUNT, "ab", "c")
    assert key_of(Kind.ACCOUNT, "a") != key_of(Kind.NETWORK, "a")
