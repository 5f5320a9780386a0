"""A queue: what a service talks to. It spreads messages over partitions and asks the right ones.

An ordering key always leads to the same partition; a message without one goes by its id. A delivery
knows its partition. Where only an id is given, all partitions are asked: the id alone doesn't say
whether its message was ordered. The number of partitions may change only while a queue is empty.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from gatepost.queue import wire
from gatepost.queue.keys import PRIORITIES, PartitionKeys
from gatepost.queue.messages import (
    DeadLetter,
    Delivery,
    Enqueued,
    Entry,
    Exposed,
    Peeked,
    Place,
    Reason,
    Stats,
)
from gatepost.queue.partition import Partition
from gatepost.queue.scripts import Client, Scripts
from gatepost.queue.signals import Doorbell

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class Queue:
    """A queue of messages in Redis. See gatepost.queue for what each operation promises."""

    def __init__(
        self, redis: Client, name: str, partitions: int = 1, clock: str | None = None
    ) -> None:
        self.name = name
        scripts = Scripts(redis, clock)
        self._partitions = [
            Partition(redis, scripts, PartitionKeys(name, number)) for number in range(partitions)
        ]
        self._turn = 0
        self.signals = tuple(part.keys.signal for part in self._partitions)
        self._doorbell = Doorbell(redis, self.signals)

    async def enqueue(self, entries: Sequence[Entry]) -> list[Enqueued]:
        """Let messages join, in order, each once; say what became of each."""
        count = len(self._partitions)
        return await self._each(
            entries, lambda entry: wire.partition_of(entry, count), Partition.enqueue
        )

    async def reserve(self, limit: int, lease_seconds: float) -> list[Delivery]:
        """Take up to `limit` messages of one partition; partitions take turns."""
        return await self._in_turn(lambda part: part.reserve(limit, lease_seconds))

    async def expire(self, limit: int, lease_seconds: float) -> list[Delivery]:
        """Take up to `limit` messages that have outlived their time, to be dead-lettered."""
        return await self._in_turn(lambda part: part.expire(limit, lease_seconds))

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> list[bool]:
        """Settle messages as delivered."""
        return await self._each(deliveries, _partition_of, Partition.acknowledge)

    async def give_back(self, deliveries: Sequence[Delivery]) -> list[bool]:
        """Put messages back at the head, as if they had not been reserved."""
        return await self._each(deliveries, _partition_of, Partition.give_back)

    async def retry_later(self, retries: Sequence[tuple[Delivery, float]]) -> list[bool]:
        """Settle messages as to be tried again, each after its delay in seconds."""
        return await self._each(retries, _partition_of_pair, Partition.retry_later)

    async def dead_letter(self, letters: Sequence[tuple[Delivery, Reason]]) -> list[bool]:
        """Settle messages as given up, each for its reason."""
        return await self._each(letters, _partition_of_pair, Partition.dead_letter)

    async def extend(self, deliveries: Sequence[Delivery], lease_seconds: float) -> list[bool]:
        """Let leases run on from now."""
        return await self._each(
            deliveries, _partition_of, lambda part, items: part.extend(items, lease_seconds)
        )

    async def release_due(self, limit: int = 500) -> int:
        """Make ready what is due; return how many. Per partition at most `limit`."""
        return sum(await self._all(lambda part: part.release_due(limit)))

    async def reclaim(self, limit: int = 500) -> int:
        """Take back what has outlived its lease; return how many. Per partition at most `limit`."""
        return sum(await self._all(lambda part: part.reclaim(limit)))

    async def remove(self, ids: Sequence[bytes]) -> list[bool]:
        """Take messages out, wherever they are; say of each whether it was there."""
        found = await self._all(lambda part: part.remove(ids))
        return [any(marks) for marks in zip(*found, strict=True)]

    async def missing(self, ids: Sequence[bytes]) -> list[bytes]:
        """Return those ids that aren't waiting here in any place."""
        found = await self._all(lambda part: part.missing(ids))
        return [id_ for id_, *marks in zip(ids, *found, strict=True) if all(marks)]

    async def peek(self, ids: Sequence[bytes]) -> list[Peeked | None]:
        """Say of each id where it is and how it fares; None if it isn't known."""
        found = await self._all(lambda part: part.peek(ids))
        return [_first(answers) for answers in zip(*found, strict=True)]

    async def payloads(self, ids: Sequence[bytes]) -> list[bytes | None]:
        """Return the payload of each id, wherever it waits; None for one that doesn't."""
        found = await self._all(lambda part: part.payloads(ids))
        return [_first(answers) for answers in zip(*found, strict=True)]

    async def expose(self, ids: Sequence[bytes]) -> list[bool]:
        """Note that only Redis has these messages; False for one that isn't here any more."""
        found = await self._all(lambda part: part.expose(ids))
        return [any(marks) for marks in zip(*found, strict=True)]

    async def exposed(self, limit: int) -> list[Exposed]:
        """Return some of the messages that only Redis has. Per partition at most `limit`."""
        found = await self._all(lambda part: part.exposed(limit))
        return [message for messages in found for message in messages]

    async def registered(self, ids: Sequence[bytes]) -> None:
        """Note that the ledger has these messages now."""
        if ids:
            await self._all(lambda part: part.registered(ids))

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Return the latest dead letters, latest first."""
        found = await self._all(lambda part: part.dead_letters(limit))
        letters = [letter for letters in found for letter in letters]
        return sorted(letters, key=lambda letter: letter.died_at, reverse=True)[:limit]

    async def forget_dead(self) -> int:
        """Forget the dead letters; return how many there were. The ledger knows why each failed."""
        return sum(await self._all(lambda part: part.forget_dead()))

    async def foremost(self, limit: int) -> list[Peeked]:
        """Return the state of some messages that wait here, about in the order in which they would
        be taken.

        Per partition at most `limit` of each place are looked at, and `limit` are returned.
        """
        ids = [one for found in await self._all(lambda p: p.foremost(limit)) for one in found]
        known = await self.peek(ids) if ids else []
        return [one for one in known if one is not None and one.place is not Place.DEAD][:limit]

    async def epochs(self) -> list[bytes]:
        """Return each partition's epoch. One that has changed means that its data was wiped."""
        fresh = secrets.token_bytes(16)
        return await self._all(lambda part: part.epoch(fresh))

    async def purge(self) -> int:
        """Forget every message but the dead ones; return how many there were."""
        return sum(await self._all(lambda part: part.purge()))

    async def stats(self) -> Stats:
        """Say how many messages are where."""
        return _sum(await self.stats_each())

    async def stats_each(self) -> list[Stats]:
        """Say of each partition how many messages are where."""
        return await self._all(lambda part: part.stats())

    async def wait(self, timeout_seconds: float) -> bool:
        """Wait for something to be ready, at most 5 s; False if nothing was heard."""
        return await self._doorbell.wait(timeout_seconds)

    async def aclose(self) -> None:
        """Stop waiting. The Redis client stays open: it belongs to the caller."""
        await self._doorbell.aclose()

    async def _in_turn(
        self, take: Callable[[Partition], Awaitable[list[Delivery]]]
    ) -> list[Delivery]:
        self._turn += 1
        for step in range(len(self._partitions)):
            part = self._partitions[(self._turn + step) % len(self._partitions)]
            if deliveries := await take(part):
                return deliveries
        return []

    async def _all(self, ask: Callable[[Partition], Awaitable[_Answer]]) -> list[_Answer]:
        if len(self._partitions) == 1:
            return [await ask(self._partitions[0])]
        return list(await asyncio.gather(*(ask(part) for part in self._partitions)))

    async def _each(
        self,
        items: Sequence[_Item],
        partition_of: Callable[[_Item], int],
        do: Callable[[Partition, Sequence[_Item]], Awaitable[list[_Answer]]],
    ) -> list[_Answer]:
        """Give each partition its items; return the answers in the order of the items."""
        if len(self._partitions) == 1:
            return await do(self._partitions[0], items)
        groups: dict[int, list[int]] = {}
        for position, item in enumerate(items):
            groups.setdefault(partition_of(item), []).append(position)
        found = await asyncio.gather(
            *(
                do(self._partitions[number], [items[position] for position in positions])
                for number, positions in groups.items()
            )
        )
        answers = {
            position: answer
            for positions, marks in zip(groups.values(), found, strict=True)
            for position, answer in zip(positions, marks, strict=True)
        }
        return [answers[position] for position in range(len(items))]


def _partition_of(delivery: Delivery) -> int:
    return delivery.partition


def _partition_of_pair(pair: tuple[Delivery, object]) -> int:
    return pair[0].partition


def _first(answers: Iterable[_Answer | None]) -> _Answer | None:
    return next((answer for answer in answers if answer is not None), None)


def _sum(parts: Sequence[Stats]) -> Stats:
    return Stats(
        ready={priority: sum(part.ready[priority] for part in parts) for priority in PRIORITIES},
        alone=sum(part.alone for part in parts),
        leased=sum(part.leased for part in parts),
        delayed=sum(part.delayed for part in parts),
        in_line=sum(part.in_line for part in parts),
        dead=sum(part.dead for part in parts),
        exposed=sum(part.exposed for part in parts),
        oldest_ms=max(part.oldest_ms for part in parts),
    )
