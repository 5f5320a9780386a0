"""The sources that may know what is revoked, and are asked: Redis, and a main server."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeAlias

import httpx
import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from gatepost.trust.revocation import KEY, Revocations, decode_revocations

PATH = "/internal/revocations"


class NoAnswer(Exception):
    """A source could not be asked, or not be understood."""


class Source(Protocol):
    """A source that may know of revocations."""

    name: str

    async def ask(self, seen: int | None) -> Revocations | None:
        """Return what is revoked, None if its number still is `seen`; raise NoAnswer if there is no
        answer."""
        ...


Open: TypeAlias = Callable[[AsyncExitStack], Awaitable[Source]]
"""An opener of a source, called where the source is asked: its connections are of that loop."""


Connect: TypeAlias = Callable[[], Redis]
"""A maker of a client of one's own, on the loop that runs where it is called."""


def redis_asked(connect: Connect) -> Open:
    async def opened(stack: AsyncExitStack) -> Source:
        return RedisSource(await stack.enter_async_context(connect()))

    return opened


class RedisSource:
    """Redis as a source: fast, and there while every main server is down; what it holds is as old
    as it likes."""

    name = "redis"

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def ask(self, seen: int | None) -> Revocations | None:
        try:
            number = await self._redis.hget(KEY, "number")
            if number is None:
                raise NoAnswer("Redis holds no list of revoked certificates")
            if int(number) == seen:
                return None
            data: Any = await self._redis.hget(KEY, "data")
            return decode_revocations(data or b"")
        except RedisError as error:
            raise NoAnswer(f"Redis does not answer: {type(error).__name__}") from None
        except (ValueError, msgspec.MsgspecError):
            raise NoAnswer("what Redis holds can't be read") from None


class MainServerSource:
    """A main server as a source: it reads the ledger for each answer."""

    name = "main_server"

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self, seen: int | None) -> Revocations | None:
        headers = {} if seen is None else {"if-none-match": f'"{seen}"'}
        try:
            answer = await self._client.get(PATH, headers=headers)
            if answer.status_code == 304:
                return None
            if answer.status_code == 200:
                return decode_revocations(answer.content)
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise NoAnswer(f"the main server does not answer: {why}") from None
        except msgspec.MsgspecError:
            raise NoAnswer("the main server's answer can't be read") from None
        raise NoAnswer(f"the main server answers with status {answer.status_code}")
