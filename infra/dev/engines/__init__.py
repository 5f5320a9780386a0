"""Redis and MariaDB as child processes: the machine's own, or the distribution's unpacked by us."""

from infra.dev.engines.find import Engines, find_engines
from infra.dev.engines.maria_server import MariaServer
from infra.dev.engines.redis_server import RedisServer

__all__ = ["Engines", "MariaServer", "RedisServer", "find_engines"]
