"""Lines: in one batch, what shares an ordering key is taken in order, and waits for nothing else;
what is to be sent later takes those behind it along."""

import asyncio

import pytest

from gatepost.errors import GatepostError, Invalid, RateLimited, StillUnderWay
from proxy.lines import Lines
from tests.heard import until


class Batch:
    """Items of it, each with its line; it is answered when it is let."""

    def __init__(self) -> None:
        self.lines = Lines()
        self.begun: list[str] = []
        self.refused: dict[str, GatepostError] = {}
        self.let: dict[str, asyncio.Event] = {}

    async def take(self, key: str | None, name: str, error: GatepostError | None = None) -> None:
        self.let[name] = asyncio.Event()
        try:
            async with self.lines.join(key):
                self.begun.append(name)
                await self.let[name].wait()
                if error is not None:
                    raise error
        except GatepostError as refusal:
            self.refused[name] = refusal

    async def begins(self, *names: str) -> None:
        """These, and no other one."""
        await until(lambda: len(self.begun) >= len(names))
        for _ in range(10):
            await asyncio.sleep(0)
        assert self.begun == list(names)


async def test_each_is_begun_when_the_one_before_it_is_answered() -> None:
    batch = Batch()
    async with asyncio.TaskGroup() as tasks:
        for key, name in (("a", "a1"), ("a", "a2"), ("b", "b1"), (None, "free"), ("a", "a3")):
            tasks.create_task(batch.take(key, name))
        await batch.begins("a1", "b1", "free")
        batch.let["a1"].set()
        await batch.begins("a1", "b1", "free", "a2")
        for name in ("a2", "a3", "b1", "free"):
            batch.let[name].set()
    assert batch.begun[-1] == "a3"


async def test_one_that_is_wrong_lets_the_next_one_begin() -> None:
    batch = Batch()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(batch.take("a", "wrong", Invalid()))
        tasks.create_task(batch.take("a", "next"))
        await batch.begins("wrong")
        batch.let["wrong"].set()
        await batch.begins("wrong", "next")
        batch.let["next"].set()
    assert list(batch.refused) == ["wrong"]


async def test_behind_one_that_is_to_be_sent_later_none_goes_however_late_that_shows() -> None:
    batch, later = Batch(), StillUnderWay()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(batch.take("a", "first", later))
        for name in ("second", "third"):
            tasks.create_task(batch.take("a", name))
        await batch.begins("first")
        batch.let["first"].set()
    assert batch.begun == ["first"]
    assert batch.refused == dict.fromkeys(("first", "second", "third"), later)


async def test_what_could_not_be_paid_for_holds_up_what_wants_an_order() -> None:
    lines = Lines()
    lines.refused(RateLimited(retry_after=1))
    with pytest.raises(RateLimited):
        async with lines.join("a"):
            pytest.fail("it would overtake the one before it")
    async with lines.join(None):
        pass
