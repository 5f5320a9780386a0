"""A queue rests after a batch that wasn't full, by its size; no other queue rests with it."""

import asyncio
from collections.abc import Container
from typing import Any

from tests.unit.worker.pool import FakeQueue, Worker, delivery
from worker.delivering import BATCH, TURN_SECONDS, TURN_SECONDS_EACH

FEW = 4


class Script:
    """Turns that give what they were told to, in order, and note when and what was passed by."""

    def __init__(self, stop: asyncio.Event, *batches: Any) -> None:
        self._stop = stop
        self._batches = list(batches)
        self.asked: list[tuple[float, set[Any]]] = []

    async def reserve(self, _limit: int, _lease: float, but: Container[Any] = ()) -> Any:
        assert isinstance(but, dict)
        self.asked.append((asyncio.get_running_loop().time(), set(but)))
        if len(self._batches) == 1:
            self._stop.set()
        return self._batches.pop(0)

    async def wait(self, _seconds: float) -> None:
        await asyncio.sleep(0)


async def played(*batches: Any) -> list[tuple[float, set[Any]]]:
    worker, stop = Worker(), asyncio.Event()
    turns: Any = Script(stop, *batches)
    await asyncio.wait_for(worker.deliverer.delivery_loop(stop, turns), 20)
    return list(turns.asked)


def batch(queue: FakeQueue, size: int) -> Any:
    return queue, [delivery() for _ in range(size)]


async def test_another_queue_is_served_while_the_first_one_rests() -> None:
    first, second = FakeQueue(), FakeQueue()
    asked = await played(batch(first, FEW), batch(second, FEW), None, None)
    passed_by = [queues for _, queues in asked]
    assert passed_by[0] == set()
    assert passed_by[1] == {first}
    assert first in passed_by[2] or second in passed_by[2]


async def test_it_rests_for_each_of_its_messages_and_never_long() -> None:
    for size, rest in ((FEW, FEW * TURN_SECONDS_EACH), (BATCH - 1, TURN_SECONDS)):
        (began, _), (_, passed_by), (again, others) = await played(
            batch(FakeQueue(), size), None, None
        )
        assert len(passed_by) == 1
        assert not others
        assert rest <= again - began < 2.0


async def test_after_a_full_batch_the_next_follows_at_once() -> None:
    _, (_, passed_by) = await played(batch(FakeQueue(), BATCH), None)
    assert not passed_by
