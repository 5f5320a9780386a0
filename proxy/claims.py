"""Claims on Idempotency-Keys in Redis: who came first, as far as Redis knows.

A claim holds the id of the first message under the key and the MAC of its payload, for 24 hours. A
repeat takes the same id, so that whatever it does again is done once. While the first is under way
a repeat waits; when it must have died, the repeat goes on in its place. The ledger's table decides:
Redis may have forgotten.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from uuid import UUID

from redis.asyncio import Redis

from gatepost.queue import QueueDamaged, typed_errors
from proxy.commit import Durability

LIFE_SECONDS = 24 * 3600
UNDER_WAY_SECONDS = 15
ANSWER_SECONDS = 1.0
"""The silence after which Redis counts as one that can't be asked. What it does later changes no
id."""

_FOLDER = Path(__file__).parent / "lua"


class Standing(IntEnum):
    OURS = 0
    UNDER_WAY = 1
    DONE = 2


@dataclass(frozen=True, slots=True)
class Claim:
    standing: Standing
    message_id: UUID
    payload_mac: bytes
    durability: Durability


class Claims:
    """The claims in Redis. Every method raises QueueError where Redis can't be asked."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._claim = redis.register_script((_FOLDER / "claim.lua").read_text())
        self._settle = redis.register_script((_FOLDER / "settle_claim.lua").read_text())
        self._end_script = redis.register_script((_FOLDER / "end_claim.lua").read_text())

    async def claim(
        self, client_id: str, key_mac: bytes, fresh_id: UUID, payload_mac: bytes
    ) -> Claim:
        """Return our claim, perhaps with the id of a message that died; or the claim that stands
        there."""
        async with _patience():
            standing, message_id, payload, durability = await self._claim(
                keys=[_key(client_id, key_mac)],
                args=[fresh_id.bytes, payload_mac, UNDER_WAY_SECONDS, LIFE_SECONDS],
            )
        try:
            how = Durability(durability.decode())
            return Claim(Standing(standing), UUID(bytes=message_id), payload, how)
        except (ValueError, TypeError):
            raise QueueDamaged() from None

    async def settle(
        self,
        client_id: str,
        key_mac: bytes,
        message_id: UUID,
        payload_mac: bytes,
        durability: Durability,
    ) -> None:
        """Note that the message under this key is committed; from now on a repeat is answered with
        it."""
        async with _patience():
            await self._settle(
                keys=[_key(client_id, key_mac)],
                args=[message_id.bytes, payload_mac, durability.value, LIFE_SECONDS],
            )

    async def drop(self, client_id: str, key_mac: bytes, message_id: UUID) -> None:
        """Drop a claim of which nothing came: the next post under this key is the first again."""
        await self._end(client_id, key_mac, message_id, "drop")

    async def release(self, client_id: str, key_mac: bytes, message_id: UUID) -> None:
        """Release a claim of which it can't be known what came: a repeat goes on at once, with the
        same id."""
        await self._end(client_id, key_mac, message_id, "release")

    async def _end(self, client_id: str, key_mac: bytes, message_id: UUID, how: str) -> None:
        async with _patience():
            await self._end_script(keys=[_key(client_id, key_mac)], args=[message_id.bytes, how])


@asynccontextmanager
async def _patience() -> AsyncIterator[None]:
    with typed_errors():
        async with asyncio.timeout(ANSWER_SECONDS):
            yield


def _key(client_id: str, key_mac: bytes) -> bytes:
    return b"gatepost:idempotency:" + client_id.encode() + b":" + key_mac
