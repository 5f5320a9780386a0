"""The engine's Lua: read from lua/, put together, and called by its hash.

A script is one atomic operation. Its file names, in a line `--@use …`, the shared parts it stands
on; the names of the keys come from keys.py. Each call is one round trip; a server that doesn't know
the script (new, restarted, another node of a cluster) is given its text once.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import NoScriptError

from gatepost.queue.errors import typed_errors
from gatepost.queue.keys import PartitionKeys, lua_names

Client = Redis | RedisCluster

_FOLDER = files("gatepost.queue") / "lua"
_USE = "--@use "


@dataclass(frozen=True, slots=True)
class Script:
    """One operation's text, and the hash that Redis knows it by."""

    text: str
    sha: str


def read_clock() -> str:
    """Return the clock that production runs on: Redis's own."""
    return _read("shared/clock.lua")


@cache
def assemble(name: str, clock: str) -> Script:
    """Put an operation's file together with the shared parts that it names."""
    first_line, body = _read(f"{name}.lua").split("\n", 1)
    uses = next((line for line in body.splitlines() if line.startswith(_USE)), "")
    names = uses.removeprefix(_USE).split()
    parts = [clock if part == "clock" else _read(f"shared/{part}.lua") for part in names]
    text = "\n".join([first_line, lua_names(), *parts, body])
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _read(path: str) -> str:
    return (_FOLDER / path).read_text(encoding="utf-8")


class Scripts:
    """The scripts on one Redis. `clock` is for tests: Lua that puts their own time in its place."""

    def __init__(self, redis: Client, clock: str | None = None) -> None:
        self._redis = redis
        self._clock = clock or read_clock()

    async def call(
        self, name: str, keys: PartitionKeys, arguments: Iterable[bytes | int] = ()
    ) -> Any:
        """Run an operation on a partition."""
        script = assemble(name, self._clock)
        rest = (len(keys.declared), *keys.declared, *arguments)
        with typed_errors():
            try:
                return await self._redis.execute_command("EVALSHA", script.sha, *rest)
            except NoScriptError:
                return await self._redis.execute_command("EVAL", script.text, *rest)
