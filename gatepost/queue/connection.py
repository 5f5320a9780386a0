"""Opens a service's connection to Redis for the engine.

redis-py would send a command again when its reply is lost. For the engine that is not harmless: a
second reserve leases other messages. So nothing is repeated behind the caller's back; what failed
is a typed error, and the caller, who knows what it asked, decides.
"""

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig

CONNECT_TIMEOUT = 2.0
POOL_TIMEOUT = 2.0
REPLY_TIMEOUT = 7.0
"""Seconds until a reply must have come; longer than the longest wait for a signal."""


def connect(url: str, max_connections: int = 64) -> Redis:
    """Return a client for the engine; it connects when first used.

    A caller who finds all connections in use waits a little for one: being busy isn't being away.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=max_connections,
        timeout=POOL_TIMEOUT,
        socket_connect_timeout=CONNECT_TIMEOUT,
        socket_timeout=REPLY_TIMEOUT,
        retry=Retry(NoBackoff(), retries=0),
        # With these on, redis-py doesn't look whether a connection of its pool has been closed.
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
    return Redis.from_pool(pool)
