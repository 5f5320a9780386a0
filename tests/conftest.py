"""Servers for the tests: real ones, on free ports, with data in the session's temporary folder.

Each xdist worker has its own. Where one can't be had the tests fail; they are never skipped.
"""

from collections.abc import Iterator
from pathlib import PurePath

import pytest
import redis

from infra.dev.engines import Engines, MariaServer, RedisServer, find_engines
from tests.arranged import arranged


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "take pictures of all pages, and those of docs/images anew"
    parser.addoption("--screenshots", action="store_true", help=words)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """After they were shuffled."""
    items[:] = arranged([(PurePath(item.nodeid.partition("::")[0]), item) for item in items])


@pytest.fixture(scope="session")
def engines() -> Engines:
    return find_engines()


@pytest.fixture(scope="session")
def redis_server(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RedisServer]:
    with RedisServer(engines, tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The session's Redis, empty, as a user who may do everything."""
    url = redis_server.url("operator")
    with redis.Redis.from_url(url) as client:
        client.flushall()
    return url


@pytest.fixture(scope="session")
def maria_server(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MariaServer]:
    with MariaServer(engines, tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture(scope="session")
def database_url(maria_server: MariaServer) -> str:
    """The ledger's schema, as the user that the main server is."""
    return maria_server.url("gatepost_main")


@pytest.fixture(scope="session")
def migration_url(maria_server: MariaServer) -> str:
    """The ledger's schema, as the user that makes its tables."""
    return maria_server.url("gatepost_migrate")
