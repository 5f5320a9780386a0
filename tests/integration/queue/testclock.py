"""A clock for the engine that a test moves: a number in a key, in place of Redis's own TIME."""

from gatepost.queue.keys import PartitionKeys
from gatepost.queue.scripts import Client

LUA = """
local function now_us()
  return tonumber(redis.call('GET', string.match(KEYS[1], '^{.-}') .. ':test clock'))
end
"""
START_MS = 1_800_000_000_000


class TestClock:
    """The time of some partitions, in milliseconds; it stands still unless it is moved."""

    __test__ = False

    def __init__(self, redis: Client, keys: list[PartitionKeys]) -> None:
        self._redis = redis
        self._keys = [each.named("test clock") for each in keys]
        self.now = START_MS

    async def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1000)
        for key in self._keys:
            await self._redis.set(key, self.now * 1000)
