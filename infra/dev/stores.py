"""Chooses Redis and the database of a stack: our own, or the user's (`REDIS_URL`,
`DATABASE_URL`)."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from infra.dev.engines import MariaServer, RedisServer, find_engines
from infra.dev.engines.server import Server
from infra.dev.place import Place
from infra.dev.ports import free_port, is_free
from infra.dev.private import write_private


@dataclass
class Stores:
    """The stores' addresses by user, and the servers that are ours to run."""

    redis: Callable[[str], str]
    database: Callable[[str], str]
    servers: list[Server] = field(default_factory=list)


def choose_stores(place: Place) -> Stores:
    """Find what is needed, and unpack what isn't there; nothing is started."""
    engines = find_engines()
    own_redis, own_database = os.environ.get("REDIS_URL"), os.environ.get("DATABASE_URL")
    stores = Stores(lambda _user: own_redis or "", lambda _user: own_database or "")
    if not own_redis:
        redis = RedisServer(
            engines, place.folder / "redis", _port(place, "redis"), place.log("redis")
        )
        stores.redis = redis.url
        stores.servers.append(redis)
    if not own_database:
        mariadb = MariaServer(
            engines, place.folder / "mariadb", _port(place, "mariadb"), place.log("mariadb")
        )
        stores.database = mariadb.url
        stores.servers.append(mariadb)
    return stores


def _port(place: Place, name: str) -> int:
    """Return the port of last time, if it's still free, so that noted addresses stay right."""
    file = place.run / "ports.json"
    ports: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    if name not in ports or not is_free(ports[name]):
        ports[name] = free_port()
        write_private(file, json.dumps(ports))
    return ports[name]
