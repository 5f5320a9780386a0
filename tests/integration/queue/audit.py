"""Reads a partition's raw keys and says what is wrong with them, whatever the scripts believe."""

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gatepost.queue.keys import PRIORITIES, PartitionKeys
from gatepost.queue.scripts import Client

HEAD = struct.Struct(">BBIIQQ8s")
ORDERED = 1
NO_TAG = bytes(8)
EVERLASTING = {"signal", "turns", "epoch", "dead", "test clock"}


@dataclass(frozen=True)
class Record:
    """What stands in front of a payload, or in meta."""

    flags: int
    priority: int
    attempts: int
    generation: int
    enqueued: int
    expires: int
    tag: bytes
    line: bytes


@dataclass
class Snapshot:
    """A partition as it is in Redis. Lists are head first."""

    names: set[str]
    records: dict[bytes, Record]
    metas: set[bytes]
    leased: dict[bytes, int]
    delayed: dict[bytes, int]
    lines: dict[bytes, list[bytes]]
    ghosts: Counter[bytes]
    exposed: set[bytes]
    dead: dict[bytes, int]
    lists: dict[int, list[bytes]]
    expiry: set[bytes]

    def ready(self, priority: int) -> list[bytes]:
        """The ids of a ready list without its ghosts: of equal ids the foremost are the ghosts."""
        ghosts = self.ghosts.copy()
        live = []
        for id_ in self.lists[priority]:
            if ghosts[bytes([priority]) + id_] > 0:
                ghosts[bytes([priority]) + id_] -= 1
            else:
                live.append(id_)
        return live

    def in_line(self) -> set[bytes]:
        """The ordered ids behind the first of their line, unless they are leased to be expired."""
        return {id_ for ids in self.lines.values() for id_ in ids[1:]} - self.leased.keys()


async def take_snapshot(redis: Client, keys: PartitionKeys) -> Snapshot:
    """Read everything."""

    async def ask(command: str, name: str, *rest: Any) -> Any:
        return await redis.execute_command(command, keys.named(name), *rest)

    async def scores(name: str) -> dict[bytes, int]:
        found = await ask("ZRANGE", name, 0, -1, "WITHSCORES")
        pairs = (
            found
            if found and isinstance(found[0], list)
            else zip(found[::2], found[1::2], strict=True)
        )
        return {member: int(float(score)) for member, score in pairs}

    bodies = await ask("HGETALL", "payload")
    metas = await ask("HGETALL", "meta")
    ghosts = await ask("HGETALL", "ghosts")
    expiry = {entry[8:] for entry in await ask("LRANGE", "expiry", 0, -1)}
    expiry |= (await scores("expiry_odd")).keys()
    lines: dict[bytes, list[bytes]] = {}
    for member in await ask("ZRANGE", "lines", 0, -1):
        lines.setdefault(member[:16], []).append(member[22:])
    lists = {n: (await ask("LRANGE", f"ready:{n}", 0, -1))[::-1] for n in PRIORITIES}
    names = {key.decode().split("}:")[1] async for key in redis.scan_iter(keys.named("*"))}
    return Snapshot(
        names,
        {id_: _record(metas.get(id_, body)) for id_, body in bodies.items()},
        set(metas),
        await scores("leased"),
        await scores("delayed"),
        lines,
        Counter({key: int(count) for key, count in ghosts.items()}),
        set(await ask("SMEMBERS", "exposed")),
        await scores("dead"),
        lists,
        expiry,
    )


def _record(raw: bytes) -> Record:
    line = raw[34:50] if raw[0] & ORDERED else b""
    return Record(*(*HEAD.unpack_from(raw), line))


def faults(seen: Snapshot) -> list[str]:
    """Return everything that may never be."""
    return [*_misplaced(seen), *_strays(seen), *_ghost_faults(seen), *_late(seen), *_left(seen)]


def _misplaced(seen: Snapshot) -> Iterator[str]:
    places = Counter([*seen.leased, *seen.delayed, *seen.in_line()])
    for priority in PRIORITIES:
        places.update(seen.ready(priority))
    for id_, record in seen.records.items():
        if places[id_] != 1:
            yield f"{id_.hex()} is in {places[id_]} places"
        if (record.tag != NO_TAG) != (id_ in seen.leased):
            yield f"{id_.hex()}: leased and tagged don't agree"
        if record.line and id_ not in seen.lines.get(record.line, []):
            yield f"{id_.hex()} is not in its line"


def _strays(seen: Snapshot) -> Iterator[str]:
    waiting = {id_ for priority in PRIORITIES for id_ in seen.ready(priority)}
    in_lines = {id_ for ids in seen.lines.values() for id_ in ids}
    for name, ids in {
        "ready": waiting,
        "leased": seen.leased.keys(),
        "delayed": seen.delayed.keys(),
        "meta": seen.metas,
        "lines": in_lines,
        "exposed": seen.exposed,
    }.items():
        for id_ in ids - seen.records.keys():
            yield f"{id_.hex()} is in {name}, but has no payload"
    for id_ in seen.dead.keys() & seen.records.keys():
        yield f"{id_.hex()} is dead and alive"
    for line in seen.lines.values():
        for id_ in set(line[1:]) & (waiting | seen.delayed.keys()):
            yield f"{id_.hex()} may go, but isn't the first of its line"


def _ghost_faults(seen: Snapshot) -> Iterator[str]:
    for priority in PRIORITIES:
        sign = bytes([priority])
        ghosts = {key[1:]: n for key, n in seen.ghosts.items() if key[:1] == sign and len(key) > 1}
        if sum(ghosts.values()) != seen.ghosts[sign]:
            yield f"{seen.ghosts[sign]} ghosts are counted at {priority}, {ghosts} are there"
        counts = Counter(seen.lists[priority])
        for id_, count in ghosts.items():
            if not 0 < count <= counts[id_]:
                yield f"{id_.hex()} haunts {priority} {count} times, is there {counts[id_]} times"


def _late(seen: Snapshot) -> Iterator[str]:
    for id_, record in seen.records.items():
        if record.expires and id_ not in seen.expiry:
            yield f"{id_.hex()} expires at {record.expires}, but that isn't noted"


def _left(seen: Snapshot) -> Iterator[str]:
    ghostly = {"ghosts", *(f"ready:{n}" for n in PRIORITIES if seen.lists[n])}
    if not seen.records:
        for name in seen.names - EVERLASTING - (ghostly if seen.ghosts else set()):
            yield f"{name} is left of an empty queue"
