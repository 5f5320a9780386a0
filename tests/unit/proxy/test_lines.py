"""Lines: in one batch, what shares an ordering key enters the queue in order, and waits for nothing
else; what is to be sent later takes those behind it along."""

import asyncio

import pytest

from gatepost.errors import Invalid, RateLimited
from proxy.lines import Lines
from tests.heard import until


async def test_each_comes_after_the_one_before_it() -> None:
    lines, came = Lines(), list[str]()

    async def enter(key: str | None, name: str, ready: asyncio.Event) -> None:
        with lines.join(key) as in_line:
            await ready.wait()
            if in_line is not None:
                await in_line.come()
            came.append(name)

    slow, at_once = asyncio.Event(), asyncio.Event()
    at_once.set()
    sent = [("a", "a1", slow), ("a", "a2", at_once), ("b", "b1", at_once), (None, "free", at_once)]
    async with asyncio.TaskGroup() as tasks:
        for one in sent:
            tasks.create_task(enter(*one))
        await until(lambda: len(came) == 2)
        assert came == ["b1", "free"]
        slow.set()
    assert came[2:] == ["a1", "a2"]


async def test_one_that_fails_passes_on() -> None:
    lines = Lines()
    with pytest.raises(Invalid), lines.join("a"):
        raise Invalid()
    with lines.join("a") as in_line:
        assert in_line is not None
        await asyncio.wait_for(in_line.come(), 1)


def test_behind_one_that_is_to_be_sent_later_none_goes() -> None:
    lines = Lines()
    lines.refused(Invalid())
    with lines.join("a"):
        pass
    lines.refused(RateLimited(retry_after=1))
    with pytest.raises(RateLimited), lines.join("a"):
        pytest.fail("it would overtake the one before it")
    with lines.join(None):
        pass
