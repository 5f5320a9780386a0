"""The looks at how Redis is set up: what is acknowledged is on its disk, and full means refused."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from gatepost.cli.doctor.look import CantTell, Finding, Look, fine, unknown, warning, wrong
from gatepost.cli.doctor.looks.machine import judge_disks
from gatepost.room import existing
from main_server.backup.room import LOCAL, ledger_folder
from main_server.commands.doctor.asking import Here, asking, here, of_redis
from main_server.store.checks import REDIS, read_redis_faults

EVICTION = "maxmemory-policy"
BUSY = 0.8


async def see_persistence(one: Here, redis: Redis) -> list[Finding]:
    """Look at what the settings say of writing to disk, and whether it comes to pass."""
    found = [finding for name, finding in await _faults(one, redis) if name != EVICTION]
    state = await redis.info("persistence")
    for name in ("aof_last_write_status", "aof_last_bgrewrite_status"):
        if state.get(name, "ok") != "ok":
            found.append(wrong(f"{name} is {state[name]}: see Redis's log", "df -h"))
    return found or [fine("each write is on disk before it is answered")]


async def see_eviction(one: Here, redis: Redis) -> list[Finding]:
    found = [finding for name, finding in await _faults(one, redis) if name == EVICTION]
    return found or [fine("nothing is evicted: a full Redis refuses")]


async def see_memory(one: Here, redis: Redis) -> list[Finding]:
    return [judge_memory(await redis.info("memory"), as_operator(one))]


def judge_memory(state: Mapping[str, int], cli: str) -> Finding:
    used, most = int(state["used_memory"]), int(state["maxmemory"])
    if not most:
        words = "maxmemory is not set: Redis grows until the kernel ends something"
        return warning(words, f"{cli} CONFIG SET maxmemory 2gb")
    words = f"{used / most:.0%} of {most / 2**20:,.0f} MiB is used"
    return warning(words, "gatepost doctor queue") if used >= BUSY * most else fine(words)


def as_operator(one: Here) -> str:
    """Return the start of a redis-cli command as the user in infra/users.acl who may do everything;
    it asks for the password."""
    address = urlsplit(one.settings.redis.address())
    place = f"-h {address.hostname} -p {address.port or 6379}"
    return f"redis-cli {place} --user operator --askpass"


async def _faults(one: Here, redis: Redis) -> list[tuple[str, Finding]]:
    """Return the faults, each with the setting that it is about."""
    found = []
    for fault in await read_redis_faults(redis):
        name = fault.split(" ")[0]
        if name not in REDIS:
            raise CantTell(fault, f"{as_operator(one)} ACL LIST")
        found.append((name, wrong(fault, f"{as_operator(one)} CONFIG SET {name} {REDIS[name]}")))
    return found


def see_disks(one: Here) -> list[Finding]:
    """Look at the disk on which the ledger keeps its data, if that is on this machine."""
    with asking(one) as connection:
        folder = ledger_folder(connection, one.settings.database.address())
    return list(judge_disks({folder} if folder else set()))


async def see_redis_disk(_one: Here, redis: Redis) -> list[Finding]:
    try:
        folder = (await redis.config_get("dir")).get("dir")
    except ResponseError:
        return [unknown("Redis does not say where its files are")]
    kwargs = redis.connection_pool.connection_kwargs
    if folder is None or kwargs.get("host") not in LOCAL:
        return []
    return list(judge_disks({existing(Path(folder))}))


LOOKS = (
    Look(
        name="redis-persistence",
        at="whether Redis writes each change to its disk at once, and whether it succeeds",
        why="what was acknowledged would be lost in a crash",
        mend="redis-cli --user operator --askpass CONFIG SET appendfsync always",
        see=of_redis(see_persistence),
    ),
    Look(
        name="redis-eviction",
        at="what Redis does when its memory is full",
        why="evicted is lost; refused is tried again",
        mend=f"redis-cli --user operator --askpass CONFIG SET {EVICTION} {REDIS[EVICTION]}",
        see=of_redis(see_eviction),
    ),
    Look(
        name="redis-memory",
        at="how much of its memory Redis uses",
        why="a full Redis accepts nothing until it has been drained",
        mend="redis-cli --user operator --askpass CONFIG SET maxmemory 2gb",
        see=of_redis(see_memory),
    ),
    Look(
        name="redis-disk",
        at="room on the disk of Redis's files, where Redis is on this machine",
        why="what can't be written isn't accepted",
        mend="df -h",
        see=of_redis(see_redis_disk),
    ),
    Look(
        name="ledger-disk",
        at="room on the disk of the ledger, where its database is on this machine",
        why="what can't be written isn't registered",
        mend="df -h",
        see=here(see_disks),
    ),
)
