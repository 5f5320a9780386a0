"""Kills consumers at random instants, loses replies on the way, and counts what became of messages.

    python -m tests.acceptance.queue.crashes --kills 5000

SIGKILL at any instruction must lose nothing, and every message must leave the queue exactly once.
"""

import argparse
import asyncio
import multiprocessing
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost.queue import Entry, Queue, QueueError, connect
from gatepost.queue.keys import PartitionKeys
from infra.dev.engines import RedisServer, find_engines
from tests.acceptance.queue.consumers import (
    NAME,
    consume_from_engine,
    consume_naively,
    consume_sluggishly,
)
from tests.acceptance.queue.lossy import LossyWire

CREW = 3
LOSS = 0.02
LOSS_AT_FIRST = 0.3
ORDERING_KEYS = 20
BATCH = 300
DRAIN_SECONDS = 60.0

Consume = Callable[[str, Path], None]
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([consume_from_engine.__module__])


@dataclass
class Outcome:
    """What was seen."""

    enqueued: set[bytes] = field(default_factory=set)
    delivered: Counter[bytes] = field(default_factory=Counter)
    left: Counter[bytes] = field(default_factory=Counter)
    """How often each message left the queue, as Redis wrote it down."""
    kills: int = 0
    replies_lost: int = 0

    @property
    def lost(self) -> set[bytes]:
        return self.enqueued - self.delivered.keys()

    def __str__(self) -> str:
        again = sum(self.delivered.values()) - len(self.delivered)
        return (
            f"{len(self.enqueued)} messages, {self.kills} kills, {self.replies_lost} replies lost: "
            f"{len(self.lost)} messages lost, {again} delivered again"
        )


@dataclass(frozen=True)
class Side:
    """What is compared: the engine, or a list."""

    name: str
    consume: Consume
    sluggish: Consume
    put: Callable[[Redis, list[bytes]], Awaitable[None]]
    waiting: Callable[[Redis], Awaitable[int]]


async def _put_into_engine(redis: Redis, ids: list[bytes]) -> None:
    """Enqueue until there is an answer: an id is enqueued once. A third of them are ordered."""
    entries = [
        Entry(id_, b"payload", ordering_key=id_[:1] if id_[0] < ORDERING_KEYS * 4 else None)
        for id_ in ids
    ]
    while True:
        try:
            await Queue(redis, NAME).enqueue(entries)
        except QueueError:
            continue
        else:
            return


async def _waiting_in_engine(redis: Redis) -> int:
    return (await Queue(redis, NAME).stats()).waiting


async def _put_into_list(redis: Any, ids: list[bytes]) -> None:
    with suppress(RedisError):  # a reply that was lost: the wire has passed the request on
        await redis.execute_command("LPUSH", NAME, *ids)


async def _waiting_in_list(redis: Any) -> int:
    count: int = await redis.execute_command("LLEN", NAME)
    return count


ENGINE = Side(
    "engine", consume_from_engine, consume_sluggishly, _put_into_engine, _waiting_in_engine
)
NAIVE = Side("naive list", consume_naively, consume_naively, _put_into_list, _waiting_in_list)


class Crew:
    """Consumers, each replaced when it is killed; a sluggish one is left alone."""

    def __init__(self, side: Side, url: str, folder: Path) -> None:
        self._start: Callable[[], ForkServerProcess] = partial(_started, side.consume, url, folder)
        self._members = [self._start() for _ in range(CREW)]
        self._sluggish = _started(side.sluggish, url, folder)

    def replace_one(self, chance: random.Random) -> None:
        place = chance.randrange(CREW)
        _kill(self._members[place])
        self._members[place] = self._start()

    def dismiss(self) -> None:
        for member in (*self._members, self._sluggish):
            _kill(member)


def _started(consume: Consume, url: str, folder: Path) -> ForkServerProcess:
    process = _processes.Process(target=consume, args=(url, folder), daemon=True)
    process.start()
    return process


def _kill(process: ForkServerProcess) -> None:
    assert process.exitcode is None, "a consumer has died of itself"
    process.kill()
    process.join()
    process.close()


async def run(server: RedisServer, side: Side, kills: int, seed: int) -> Outcome:
    """Kill as often as told, let the rest be delivered, and say what was seen."""
    chance = random.Random(seed)
    outcome = Outcome(kills=kills)
    redis = connect(server.url())
    with LossyWire(server.port, LOSS_AT_FIRST, chance) as wire:
        await _first_batch(side, _through(wire, server), chance, outcome)
    with (
        tempfile.TemporaryDirectory() as folder,
        LossyWire(server.port, LOSS, chance) as wire,
    ):
        crew = Crew(side, _through(wire, server), Path(folder))
        try:
            await _kill_at_random(crew, side, redis, chance, outcome)
            await _drain(side, redis)
        finally:
            crew.dismiss()
        outcome.replies_lost = wire.lost
        outcome.delivered.update(_delivered(Path(folder)))
    outcome.left.update(id_ for id_ in _departures(server.folder) if id_ in outcome.enqueued)
    await redis.aclose()
    return outcome


def _through(wire: LossyWire, server: RedisServer) -> str:
    return server.url().replace(f":{server.port}/", f":{wire.port}/")


async def _first_batch(side: Side, url: str, chance: random.Random, outcome: Outcome) -> None:
    """Some messages are enqueued while replies are lost, so again and again."""
    redis = connect(url)
    for _ in range(20):
        await _put(side, redis, BATCH // 10, chance, outcome)
    await redis.aclose()


async def _put(
    side: Side, redis: Redis, count: int, chance: random.Random, outcome: Outcome
) -> None:
    ids = [chance.randbytes(16) for _ in range(count)]
    outcome.enqueued.update(ids)
    await side.put(redis, ids)


async def _kill_at_random(
    crew: Crew, side: Side, redis: Redis, chance: random.Random, outcome: Outcome
) -> None:
    for _ in range(outcome.kills):
        await asyncio.sleep(chance.uniform(0.0, 0.05))
        crew.replace_one(chance)
        if await side.waiting(redis) < BATCH:
            await _put(side, redis, BATCH, chance, outcome)


async def _drain(side: Side, redis: Redis) -> None:
    deadline = time.monotonic() + DRAIN_SECONDS
    while waiting := await side.waiting(redis):
        assert time.monotonic() < deadline, f"{waiting} messages still wait"
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)  # a naive consumer may still be at its last one


def _delivered(folder: Path) -> Iterator[bytes]:
    for file in folder.iterdir():
        content = file.read_bytes()
        yield from (content[start : start + 16] for start in range(0, len(content), 16))


def _departures(folder: Path) -> Iterator[bytes]:
    """Read from the AOF which ids have left the payloads, as often as they did."""
    payloads = PartitionKeys(NAME, 0).payload
    for file in sorted((folder / "appendonlydir").glob("*.incr.aof")):
        for command in _commands(file.read_bytes()):
            if command[:2] == [b"HDEL", payloads]:
                yield from command[2:]


def _commands(content: bytes) -> Iterator[list[bytes]]:
    """Read commands as Redis writes them: *count, then $length and bytes for each word."""
    at = 0
    while at < len(content):
        end = content.index(b"\r\n", at)
        mark, count = content[at : at + 1], int(content[at + 1 : end].split(b":")[-1] or 0)
        at = end + 2
        words = []
        for _ in range(count if mark == b"*" else 0):
            end = content.index(b"\r\n", at)
            size = int(content[at + 1 : end])
            words.append(content[end + 2 : end + 2 + size])
            at = end + 4 + size
        yield words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    arguments = parser.parse_args()
    for side in (ENGINE, NAIVE):
        with (
            tempfile.TemporaryDirectory() as folder,
            RedisServer(find_engines(), Path(folder)) as server,
        ):
            outcome = asyncio.run(run(server, side, arguments.kills, arguments.seed))
            print(f"{side.name}, seed {arguments.seed}: {outcome}")


if __name__ == "__main__":
    main()
