"""Reads a partition's raw keys and says what is wrong with them, whatever the scripts believe."""

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gatepost.queue.keys import READY_LISTS, PartitionKeys
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


READ_ALL = """
local read = {
  none = function() return {} end,
  hash = function(key) return redis.call('HGETALL', key) end,
  set = function(key) return redis.call('SMEMBERS', key) end,
  list = function(key) return redis.call('LRANGE', key, 0, -1) end,
  zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
}
local all = {}
for n, key in ipairs(KEYS) do all[n] = read[redis.call('TYPE', key).ok](key) end
all[#KEYS + 1] = redis.call('KEYS', string.match(KEYS[1], '^{.-}') .. '*')
return all
"""


async def take_snapshot(redis: Client, keys: PartitionKeys) -> Snapshot:
    """Read everything, in one step."""
    names = [key.decode().split("}:")[1] for key in keys.declared]
    *contents, present = await redis.execute_command(
        "EVAL", READ_ALL, len(keys.declared), *keys.declared
    )
    found: dict[str, list[bytes]] = dict(zip(names, contents, strict=True))
    lines: dict[bytes, list[bytes]] = {}
    for member in _pairs(found["lines"]):
        lines.setdefault(member[:16], []).append(member[22:])
    metas = _pairs(found["meta"])
    return Snapshot(
        {key.decode().split("}:")[1] for key in present},
        {id_: _record(metas.get(id_, body)) for id_, body in _pairs(found["payload"]).items()},
        set(metas),
        _scores(found["leased"]),
        _scores(found["delayed"]),
        lines,
        Counter({key: int(count) for key, count in _pairs(found["ghosts"]).items()}),
        set(found["exposed"]),
        _scores(found["dead"]),
        {n: found[f"ready:{n}"][::-1] for n in READY_LISTS},
        {entry[8:] for entry in found["expiry"]} | _scores(found["expiry_odd"]).keys(),
    )


def _pairs(flat: list[bytes]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _scores(flat: list[bytes]) -> dict[bytes, int]:
    return {member: int(float(score)) for member, score in _pairs(flat).items()}


def _record(raw: bytes) -> Record:
    line = raw[34:50] if raw[0] & ORDERED else b""
    return Record(*(*HEAD.unpack_from(raw), line))


def faults(seen: Snapshot) -> list[str]:
    """Return everything that may never be."""
    return [*_misplaced(seen), *_strays(seen), *_ghost_faults(seen), *_late(seen), *_left(seen)]


def _misplaced(seen: Snapshot) -> Iterator[str]:
    places = Counter([*seen.leased, *seen.delayed, *seen.in_line()])
    for priority in READY_LISTS:
        places.update(seen.ready(priority))
    for id_, record in seen.records.items():
        if places[id_] != 1:
            yield f"{id_.hex()} is in {places[id_]} places"
        if (record.tag != NO_TAG) != (id_ in seen.leased):
            yield f"{id_.hex()}: leased and tagged don't agree"
        if record.line and id_ not in seen.lines.get(record.line, []):
            yield f"{id_.hex()} is not in its line"


def _strays(seen: Snapshot) -> Iterator[str]:
    waiting = {id_ for priority in READY_LISTS for id_ in seen.ready(priority)}
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
    for priority in READY_LISTS:
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
    ghostly = {"ghosts", *(f"ready:{n}" for n in READY_LISTS if seen.lists[n])}
    if not seen.records:
        for name in seen.names - EVERLASTING - (ghostly if seen.ghosts else set()):
            yield f"{name} is left of an empty queue"
