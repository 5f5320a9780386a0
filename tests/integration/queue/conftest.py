"""The three kinds of server that the engine runs on, each real, and a queue on each of them."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster as ClusterClient

from gatepost.queue import Queue, connect
from gatepost.queue.keys import PartitionKeys
from gatepost.queue.scripts import Client
from infra.dev.engines import Engines, RedisServer
from infra.dev.engines.find import Engine, _valkey
from infra.dev.paths import ENGINES
from tests.integration.queue import testclock
from tests.integration.queue.cluster import RedisCluster
from tests.integration.queue.testclock import TestClock

KINDS = ("redis", "valkey", "cluster")
NAME = "message_queue"


class ValkeyEngines(Engines):
    """Engines whose Redis is the Valkey out of the wheel."""

    @property
    def redis(self) -> Engine:
        return _valkey(ENGINES / "valkey")


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(ValkeyEngines(), tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RedisCluster]:
    with RedisCluster(engines, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server_url(kind: str, request: pytest.FixtureRequest) -> str:
    """A server of the kind, as a user who may do everything."""
    if kind == "cluster":
        return str(request.getfixturevalue("redis_cluster").url)
    return str(request.getfixturevalue(f"{kind}_server").url())


def open_client(kind: str, url: str) -> Client:
    return ClusterClient.from_url(url) if kind == "cluster" else connect(url)


async def empty(client: Client) -> None:
    """Forget everything, on every node."""
    if isinstance(client, Redis):
        await client.flushall()
    else:
        await client.flushall(target_nodes="primaries")


@pytest.fixture
async def client(kind: str, server_url: str) -> AsyncIterator[Client]:
    """A client of an empty server."""
    client = open_client(kind, server_url)
    await empty(client)
    yield client
    await client.aclose()


@pytest.fixture
def keys() -> PartitionKeys:
    """The keys of the only partition of `queue`."""
    return PartitionKeys(NAME, 0)


@pytest.fixture
async def clock(client: Client, keys: PartitionKeys) -> TestClock:
    """The time that `queue` lives in."""
    clock = TestClock(client, [keys])
    await clock.advance(0)
    return clock


@pytest.fixture
async def queue(client: Client, clock: TestClock) -> AsyncIterator[Queue]:
    """A queue of one partition, whose time is the test's."""
    queue = Queue(client, NAME, clock=testclock.LUA)
    yield queue
    await queue.aclose()
