"""How often an address may ask, and how many are served at once."""

import asyncio

import pytest

from gatepost.errors import RateLimited, Unavailable
from main_server import buckets
from main_server.api.peers import Peers, Turns


class Watch:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


def taken(one: Peers, address: str, tries: int) -> int:
    """How many of them are granted."""
    granted = 0
    for _ in range(tries):
        try:
            one.take(address)
            granted += 1
        except RateLimited:
            continue
    return granted


def test_what_was_saved_up_is_granted_and_then_the_rate(watch: Watch) -> None:
    one = Peers(2.0, 5, watch)
    assert taken(one, "192.0.2.1", 20) == 5
    for _ in range(10):
        watch.now += 1.0
        assert taken(one, "192.0.2.1", 20) == 2
    watch.now += 3600
    assert taken(one, "192.0.2.1", 20) == 5, "no more is saved up than that"


def test_who_is_refused_is_told_when_to_come_back(watch: Watch) -> None:
    one = Peers(0.1, 1, watch)
    one.take("192.0.2.1")
    with pytest.raises(RateLimited) as refused:
        one.take("192.0.2.1")
    assert refused.value.retry_after == 10
    watch.now += 9.5
    with pytest.raises(RateLimited) as refused:
        one.take("192.0.2.1")
    assert refused.value.retry_after == 1
    watch.now += 0.5
    one.take("192.0.2.1")


def test_each_address_counts_for_itself_and_a_network_of_ipv6_is_one(watch: Watch) -> None:
    one = Peers(1.0, 1, watch)
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"):
        assert taken(one, address, 2) == 1, address
    assert taken(one, "2001:db8::ffff", 2) == 0


def test_an_address_of_ipv4_written_as_one_of_ipv6_is_that_address(watch: Watch) -> None:
    one = Peers(1.0, 1, watch)
    assert taken(one, "::ffff:192.0.2.1", 2) == 1
    assert taken(one, "192.0.2.1", 2) == 0
    assert taken(one, "::ffff:192.0.2.2", 2) == 1, "they are not all in one network"
    assert taken(one, "2001:db8::1%eth0", 2) == 1


def test_addresses_are_forgotten_before_they_are_too_many(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "MOST", 3)
    one = Peers(0.001, 1, watch)
    for last in range(1, 5):
        one.take(f"192.0.2.{last}")
    assert taken(one, "192.0.2.4", 1) == 0
    assert taken(one, "192.0.2.1", 1) == 1, "the one that was silent for longest"
    assert len(one._buckets._full_at) == 3


async def test_so_many_at_once_so_many_wait_and_the_rest_is_sent_away() -> None:
    turns, go = Turns(2, 3), asyncio.Event()
    inside = 0
    most = 0

    async def come() -> str:
        nonlocal inside, most
        try:
            async with turns.one():
                inside += 1
                most = max(most, inside)
                await go.wait()
                inside -= 1
        except Unavailable:
            return "away"
        return "served"

    for _ in range(2):  # what is over makes room again
        go.clear()
        tasks = [asyncio.create_task(come()) for _ in range(8)]
        async with asyncio.timeout(10):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            go.set()
            done = await asyncio.gather(*tasks)
        assert (done.count("served"), done.count("away"), most) == (5, 3, 2)
