"""A Redis of a test's own, with options that the shared ones don't have."""

from pathlib import Path

from infra.dev.child import Child
from infra.dev.engines import Engines
from infra.dev.ports import HOST
from infra.dev.private import private_folder


def redis_child(engines: Engines, folder: Path, port: int, *options: object) -> Child:
    """Return a redis-server that isn't started yet; it ends with the test session at the latest."""
    settings = (
        *("--port", port, "--bind", HOST, "--dir", ".", "--save", ""),
        *("--appendonly", "yes", "--appendfsync", "always"),
    )
    return Child(
        f"redis {port}",
        [str(engines.redis.program), *map(str, (*settings, *options))],
        log=private_folder(folder) / "redis.log",
        folder=folder,
        environment=engines.redis.environment,
    )
