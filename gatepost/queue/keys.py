"""The names of every Redis key of the engine, in one place.

All keys of a partition carry one hash tag, so that they live in one slot of a Redis Cluster and a
script may touch them together. Every script is given all of them, always in the order of NAMES and
then the ready lists: what a script can reach is what was declared. ARCHITECTURE.md draws the
states.

| key          | type   | holds                                                                  |
|--------------|--------|------------------------------------------------------------------------|
| payload      | HASH   | id → the record as enqueued, then the payload; has the id = it is known |
| meta         | HASH   | id → the record, once it differs from the one in front of the payload   |
| leased       | ZSET   | id → end of its lease, in µs                                            |
| delayed      | ZSET   | id → when it is due, in ms                                              |
| expiry       | LIST   | time (ms) + id, by time: when each expires; settled ones may linger     |
| expiry_odd   | ZSET   | id → when it expires, of those that came out of order or stay long      |
| lines        | ZSET   | line + place + id, by bytes: the ordered ids of each key, first to last |
| ghosts       | HASH   | class + id → occurrences in that ready list to be skipped; class → sum  |
| turns        | HASH   | whose turn it is where several priorities wait, or some alone           |
| exposed      | SET    | ids that only Redis has                                                 |
| dead         | ZSET   | id → when (ms) × 16 + reason; no payload                                |
| signal       | LIST   | at most one token: "look at the ready lists"                            |
| ready:0      | LIST   | ids that lost a lease, each to be reserved alone                        |
| ready:1 … 10 | LIST   | ids of that priority; joins on the left, is taken on the right          |
| epoch        | STRING | a random value of this data's life; gone when Redis was wiped           |
"""

from dataclasses import dataclass, field

LOWEST_PRIORITY = 1
HIGHEST_PRIORITY = 10

NAMES = (
    "payload",
    "meta",
    "leased",
    "delayed",
    "expiry",
    "expiry_odd",
    "lines",
    "ghosts",
    "turns",
    "exposed",
    "dead",
    "signal",
)
PRIORITIES = range(LOWEST_PRIORITY, HIGHEST_PRIORITY + 1)
ALONE = 0
"""The ready list of what has lost a lease, whatever its priority."""

READY_LISTS = (ALONE, *PRIORITIES)


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """The keys of one partition of a queue."""

    queue: str
    partition: int
    declared: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [*NAMES, *(f"ready:{number}" for number in READY_LISTS)]
        object.__setattr__(self, "declared", tuple(self.named(name) for name in names))

    def named(self, name: str) -> bytes:
        """Return the full name of one key."""
        return f"{{{self.queue}/{self.partition}}}:{name}".encode()

    @property
    def payload(self) -> bytes:
        return self.named("payload")

    @property
    def signal(self) -> bytes:
        return self.named("signal")

    @property
    def exposed(self) -> bytes:
        return self.named("exposed")

    @property
    def dead(self) -> bytes:
        return self.named("dead")

    @property
    def epoch(self) -> bytes:
        return self.named("epoch")


def lua_names() -> str:
    """Return the Lua that names the declared keys: PAYLOAD, …, and KEYS[READY + n] from 0 to 10."""
    locals_ = ", ".join(name.upper() for name in NAMES)
    values = ", ".join(f"KEYS[{number}]" for number in range(1, len(NAMES) + 1))
    return f"local {locals_} = {values}\nlocal READY = {len(NAMES) + 1}\n"
