"""Group commit: who comes while a commit runs shares the next; each is answered for itself."""

import asyncio

import pytest

from proxy.groups import Group
from tests.heard import settled


class Disk:
    """Commits what it is given, when it is told to."""

    def __init__(self, limit: int = 500, pace: float = 0.0) -> None:
        self.group = Group(self._commit, limit=limit, pace_seconds=pace)
        self.commits: list[list[int]] = []
        self.second = asyncio.Event()
        self._running: list[asyncio.Future[None]] = []

    async def _commit(self, items: list[int]) -> list[int]:
        self.commits.append(items)
        if len(self.commits) == 2:
            self.second.set()
        self._running.append(asyncio.get_running_loop().create_future())
        await self._running[-1]
        return [item * 10 for item in items]

    async def finish(self, number: int, error: Exception | None = None) -> None:
        """Ends that commit."""
        if error is None:
            self._running[number].set_result(None)
        else:
            self._running[number].set_exception(error)
        await settled()


async def test_what_comes_during_a_commit_goes_together_into_the_next() -> None:
    disk = Disk()
    first = disk.group.submit(1)
    await settled()
    later = [disk.group.submit(n) for n in (2, 3, 4)]
    await settled()
    assert disk.commits == [[1]]
    await disk.finish(0)
    assert first.result() == 10
    assert disk.commits == [[1], [2, 3, 4]]
    await disk.finish(1)
    assert [one.result() for one in later] == [20, 30, 40]


async def test_requests_of_one_moment_share_even_the_first() -> None:
    disk = Disk()
    for n in range(5):
        disk.group.submit(n)
    await settled()
    assert disk.commits == [[0, 1, 2, 3, 4]]
    await disk.finish(0)


async def test_a_group_has_its_limit() -> None:
    disk = Disk(limit=3)
    futures = [disk.group.submit(n) for n in range(7)]
    for number in range(3):
        await settled()
        await disk.finish(number)
    assert disk.commits == [[0, 1, 2], [3, 4, 5], [6]]
    assert [one.result() for one in futures] == [n * 10 for n in range(7)]


async def test_a_failure_is_that_groups_alone() -> None:
    disk = Disk()
    first = disk.group.submit(1)
    await settled()
    second, third = disk.group.submit(2), disk.group.submit(3)
    await disk.finish(0, RuntimeError("full"))
    await disk.finish(1)
    with pytest.raises(RuntimeError):
        first.result()
    assert (second.result(), third.result()) == (20, 30)


async def test_who_stops_waiting_changes_nothing_for_the_others() -> None:
    disk = Disk()
    gone, there = disk.group.submit(1), disk.group.submit(2)
    await settled()
    gone.cancel()
    await disk.finish(0)
    assert there.result() == 20
    late = disk.group.submit(3)
    await settled()
    await disk.finish(1, RuntimeError("full"))
    assert isinstance(late.exception(), RuntimeError)


async def test_one_commit_at_a_time() -> None:
    disk = Disk(limit=1)
    for n in range(2):
        disk.group.submit(n)
        await settled()
    assert disk.commits == [[0]]
    await disk.finish(0)
    assert disk.commits == [[0], [1]]
    await disk.finish(1)


async def test_a_pace_lets_as_many_gather_as_came_before() -> None:
    disk = Disk(pace=60.0)
    for n in range(2):
        disk.group.submit(n)
    await settled()
    assert disk.commits == [[0, 1]]  # at once
    await disk.finish(0)
    disk.group.submit(2)
    await settled()
    assert disk.commits == [[0, 1]]  # another may come
    disk.group.submit(3)
    await settled()
    assert disk.commits == [[0, 1], [2, 3]]
    await disk.finish(1)


async def test_nobody_waits_for_others_longer_than_the_pace() -> None:
    disk = Disk(pace=0.05)
    for n in range(2):
        disk.group.submit(n)
    await settled()
    await disk.finish(0)
    alone = disk.group.submit(2)
    async with asyncio.timeout(5):
        await disk.second.wait()
    await disk.finish(1)
    assert alone.result() == 20


async def test_an_idle_group_starts_again() -> None:
    disk = Disk()
    for number in range(3):
        future = disk.group.submit(number)
        await settled()
        await disk.finish(number)
        assert future.result() == number * 10


async def test_how_long_a_commit_takes_is_known_while_it_runs() -> None:
    disk = Disk()
    assert disk.group.longest_flight() == 0
    disk.group.submit(1)
    await asyncio.sleep(0.05)
    assert 0.049 <= disk.group.longest_flight() < 1
    await disk.finish(0)
    assert disk.group.longest_flight() == 0
