"""Looks at Redis as each service's own user sees it: whether it answers, which one it is, what its
time is.

How it is set up only the main server's user may ask: `main_server.commands.doctor.redis`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from gatepost.cli.doctor.look import CantTell, Finding, Look, fine, warning, wrong
from gatepost.cli.doctor.site import Site
from gatepost.clock import LEAP_MS, WORTH_NOTING_MS
from gatepost.config.settings import Redis as RedisSettings
from gatepost.queue import QueueError, connect

T = TypeVar("T")
SECONDS = 4.0
OLDEST = (7, 0)
"""The oldest version: from it on, scripts say by flags what they may do when memory is out."""


@asynccontextmanager
async def answering(settings: RedisSettings) -> AsyncIterator[Redis]:
    """Yield a connection; raise CantTell if Redis is silent: another look says this is wrong."""
    try:
        async with asyncio.timeout(SECONDS), connect(settings.address(), 1) as redis:
            yield redis
    except NoPermissionError:
        raise CantTell("our user may not ask Redis", "gatepost doctor redis") from None
    except (QueueError, RedisError, OSError, TimeoutError):
        raise CantTell("Redis does not answer", "gatepost doctor redis") from None


def services(site: Site) -> Iterator[tuple[str, RedisSettings]]:
    for part, settings in site.readable():
        if isinstance(redis := getattr(settings, "redis", None), RedisSettings):
            yield part.name, redis


def servers(site: Site) -> Iterable[RedisSettings]:
    """Return each Redis once, with the settings of the first service that has it."""
    found: dict[tuple[str | None, int | None], RedisSettings] = {}
    for _, settings in services(site):
        parts = urlsplit(settings.address())
        found.setdefault((parts.hostname, parts.port), settings)
    return found.values()


def ask(settings: RedisSettings, question: Callable[[Redis], Awaitable[T]]) -> T:
    async def whole() -> T:
        async with answering(settings) as redis:
            return await question(redis)

    return asyncio.run(whole())


def see_redis(site: Site) -> list[Finding]:
    """Ask for all services at once: if one hung, the others would wait for as long again."""

    async def whole() -> list[Finding]:
        return await asyncio.gather(*(_of(site, name, one) for name, one in services(site)))

    return asyncio.run(whole())


async def _of(site: Site, name: str, settings: RedisSettings) -> Finding:
    try:
        async with answering(settings) as redis:
            await command(redis, "PING")
    except CantTell as error:
        if isinstance(error.__context__, AuthenticationError | NoPermissionError):
            words = f"{name}: it refuses our user, or that user's password"
            return wrong(words, f"gatepost config show {name}")
        return wrong(f"{name}: it does not answer", site.start("redis", again=True))
    return fine(f"{name}: it answers")


def see_version(site: Site) -> Iterator[Finding]:
    for settings in servers(site):
        yield judge_version(*ask(settings, _version))


def judge_version(server: str, version: str) -> Finding:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    words = f"{server} {version}"
    if numbers < OLDEST:
        return wrong(f"{words}: it must be {'.'.join(map(str, OLDEST))} or later")
    return fine(words)


def see_time(site: Site) -> Iterator[Finding]:
    for settings in servers(site):
        yield judge_time("Redis", ask(settings, _time_off))


def judge_time(whose: str, off_ms: float) -> Finding:
    """Judge how far this machine's clock is off from that of a store."""
    words = f"this machine's clock and {whose}'s are {abs(off_ms) / 1000:.1f} s apart"
    if abs(off_ms) > LEAP_MS:
        return wrong(words)
    return warning(words) if abs(off_ms) > WORTH_NOTING_MS else fine(words)


async def command(redis: Redis, name: str) -> Any:
    return await redis.execute_command(name)  # type: ignore[no-untyped-call]


async def _version(redis: Redis) -> tuple[str, str]:
    """Return the server's name and version by HELLO, which everybody may call, unlike INFO."""
    said = await command(redis, "HELLO")
    pairs = said if isinstance(said, dict) else dict(zip(said[::2], said[1::2], strict=True))
    return _text(pairs[b"server"]), _text(pairs[b"version"])


async def _time_off(redis: Redis) -> float:
    started, before = time.monotonic(), time.time()
    seconds, micros = await redis.time()
    half = (time.monotonic() - started) / 2
    return (before + half - (int(seconds) + int(micros) / 1e6)) * 1000


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


LOOKS = (
    Look(
        name="redis",
        at="whether Redis answers each service's own user",
        why="without it messages are kept by the ledger alone, and none is delivered",
        mend="systemctl restart gatepost-redis",
        see=see_redis,
    ),
    Look(
        name="redis-version",
        at="which Redis it is",
        why="an older one can't run the scripts of the queue",
        mend="apt-get install redis-server",
        see=see_version,
    ),
    Look(
        name="redis-clock",
        at="how far this machine's clock and Redis's are apart",
        why="the queue goes by Redis's time, and proxies set theirs by it",
        mend="chronyc tracking",
        see=see_time,
    ),
)
