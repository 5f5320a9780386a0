"""One partition of a queue: each operation, many messages at a time.

Nothing here decides anything: a method packs its arguments, calls the script of its name and reads
the answer. What is long is cut into pieces, so that no call holds Redis up; each piece is atomic.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from gatepost.queue import wire
from gatepost.queue.errors import typed_errors
from gatepost.queue.keys import ALONE, PRIORITIES, PartitionKeys
from gatepost.queue.messages import (
    ID_SIZE,
    DeadLetter,
    Delivery,
    Enqueued,
    Entry,
    Exposed,
    Peeked,
    Reason,
    Stats,
)
from gatepost.queue.scripts import Client, Scripts

PIECE = 500
REMEMBERED_DEAD = 100_000
_TAG_SIZE = 8

_Item = TypeVar("_Item")
_Arguments = Iterable[bytes | int]


class Partition:
    """The operations on the keys of one partition."""

    def __init__(self, redis: Client, scripts: Scripts, keys: PartitionKeys) -> None:
        self.keys = keys
        self._redis: Any = redis
        self._scripts = scripts

    async def enqueue(self, entries: Sequence[Entry]) -> list[Enqueued]:
        answers: list[Enqueued] = []
        for piece in _pieces(entries):
            arguments = [part for entry in piece for part in wire.pack_entry(entry)]
            reply = await self._scripts.call("enqueue", self.keys, arguments)
            answers.extend(Enqueued(mark - ord("0")) for mark in reply)
        return answers

    async def reserve(self, limit: int, lease_seconds: float) -> list[Delivery]:
        return await self._lease("reserve", limit, lease_seconds)

    async def expire(self, limit: int, lease_seconds: float) -> list[Delivery]:
        return await self._lease("expire", limit, lease_seconds)

    async def _lease(self, script: str, limit: int, lease_seconds: float) -> list[Delivery]:
        lease_ms = int(lease_seconds * 1000)
        again = 1
        while again:
            tag = secrets.token_bytes(_TAG_SIZE)
            arguments = (min(limit, PIECE), lease_ms * 1000, tag)
            reply = await self._scripts.call(script, self.keys, arguments)
            again = reply[1]
            if len(reply) > 2:
                break
        return wire.read_deliveries(reply, lease_ms, self.keys.partition)

    async def acknowledge(self, deliveries: Sequence[Delivery]) -> list[bool]:
        return await self._mark("acknowledge", deliveries, _proof)

    async def give_back(self, deliveries: Sequence[Delivery]) -> list[bool]:
        return await self._mark("give_back", deliveries, _proof)

    async def retry_later(self, retries: Sequence[tuple[Delivery, float]]) -> list[bool]:
        return await self._mark("retry_later", retries, _retry)

    async def dead_letter(self, letters: Sequence[tuple[Delivery, Reason]]) -> list[bool]:
        return await self._mark("dead_letter", letters, _letter, REMEMBERED_DEAD)

    async def extend(self, deliveries: Sequence[Delivery], lease_seconds: float) -> list[bool]:
        return await self._mark("extend", deliveries, _proof, int(lease_seconds * 1_000_000))

    async def release_due(self, limit: int) -> int:
        return int(await self._scripts.call("release_due", self.keys, (min(limit, PIECE),)))

    async def reclaim(self, limit: int) -> int:
        return int(await self._scripts.call("reclaim", self.keys, (min(limit, PIECE),)))

    async def remove(self, ids: Sequence[bytes]) -> list[bool]:
        return await self._mark("remove", ids, _id)

    async def missing(self, ids: Sequence[bytes]) -> list[bool]:
        return await self._mark("missing", ids, _id)

    async def expose(self, ids: Sequence[bytes]) -> list[bool]:
        return await self._mark("expose", ids, _id)

    async def exposed(self, limit: int) -> list[Exposed]:
        reply = await self._scripts.call("exposed", self.keys, (limit,))
        return wire.read_exposed(reply)

    async def peek(self, ids: Sequence[bytes]) -> list[Peeked | None]:
        found: list[Peeked | None] = []
        for piece in _pieces(ids):
            reply = await self._scripts.call("peek", self.keys, piece)
            found.extend(wire.read_peeked(piece, reply))
        return found

    async def payloads(self, ids: Sequence[bytes]) -> list[bytes | None]:
        with typed_errors():
            bodies = await self._redis.hmget(self.keys.payload, list(ids))
        return [None if body is None else wire.payload_of(body) for body in bodies]

    async def registered(self, ids: Sequence[bytes]) -> None:
        with typed_errors():
            await self._redis.srem(self.keys.exposed, *ids)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        with typed_errors():
            found = await self._redis.zrevrange(self.keys.dead, 0, limit - 1, withscores=True)
        return [wire.read_dead_letter(id_, int(score)) for id_, score in found]

    async def forget_dead(self) -> int:
        with typed_errors():
            return int(await self._redis.zremrangebyrank(self.keys.dead, 0, -1))

    async def foremost(self, limit: int) -> list[bytes]:
        """Return the ids of up to `limit` messages of each place. One that moves meanwhile may be
        named where it isn't any more."""
        named, last = self.keys.named, limit - 1
        with typed_errors():
            async with self._redis.pipeline(transaction=False) as asked:
                asked.zrange(named("leased"), 0, last)
                for number in (ALONE, *reversed(PRIORITIES)):
                    asked.lrange(named(f"ready:{number}"), -limit, -1)
                asked.zrange(named("delayed"), 0, last)
                asked.zrange(named("lines"), 0, last)
                leased, *ready, delayed, lines = await asked.execute()
        ids = [*leased, *(one for found in ready for one in reversed(found)), *delayed]
        return list(dict.fromkeys([*ids, *(line[-ID_SIZE:] for line in lines)]))

    async def epoch(self, fresh: bytes) -> bytes:
        with typed_errors():
            known = await self._redis.set(self.keys.epoch, fresh, nx=True, get=True)
        return known or fresh

    async def stats(self) -> Stats:
        return wire.read_stats(await self._scripts.call("stats", self.keys))

    async def purge(self) -> int:
        return int(await self._scripts.call("purge", self.keys))

    async def _mark(
        self,
        script: str,
        items: Sequence[_Item],
        arguments_of: Callable[[_Item], _Arguments],
        *first: int,
    ) -> list[bool]:
        """Call a script that answers each item with '1' or '0'."""
        marks: list[bool] = []
        for piece in _pieces(items):
            arguments = [*first, *(part for item in piece for part in arguments_of(item))]
            marks.extend(wire.read_marks(await self._scripts.call(script, self.keys, arguments)))
        return marks


def _id(id_: bytes) -> _Arguments:
    return (id_,)


def _proof(delivery: Delivery) -> _Arguments:
    return delivery.id, delivery.tag


def _retry(retry: tuple[Delivery, float]) -> _Arguments:
    delivery, delay_seconds = retry
    return delivery.id, delivery.tag, int(delay_seconds * 1000)


def _letter(letter: tuple[Delivery, Reason]) -> _Arguments:
    delivery, reason = letter
    return delivery.id, delivery.tag, int(reason)


def _pieces(items: Sequence[_Item]) -> Iterable[Sequence[_Item]]:
    return (items[start : start + PIECE] for start in range(0, len(items), PIECE))
