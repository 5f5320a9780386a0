"""Redis as we start it: settings are in force, users are held to their part, data stays."""

import os

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError
from redis.retry import Retry

from infra.dev.engines import Engines, RedisServer


def client(server: RedisServer, user: str = "operator") -> redis.Redis:
    return redis.Redis.from_url(server.url(user))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("appendonly", "yes"),
        ("appendfsync", "always"),
        ("aof-load-truncated", "no"),
        ("save", ""),
        ("maxmemory", str(2 * 1024**3)),
        ("maxmemory-policy", "noeviction"),
        ("oom-score-adj", "yes"),
        ("auto-aof-rewrite-percentage", "100"),
        ("bind", "127.0.0.1"),
    ],
)
def test_setting_is_in_force(redis_server: RedisServer, name: str, value: str) -> None:
    with client(redis_server) as operator:
        assert operator.config_get(name) == {name: value}


SERVICES = ["gatepost_proxy", "gatepost_worker", "gatepost_main"]


@pytest.mark.parametrize("user", SERVICES)
@pytest.mark.parametrize(
    "command",
    [
        "FLUSHALL",
        "FLUSHDB",
        "CONFIG SET appendonly no",
        "CONFIG REWRITE",
        "KEYS *",
        "SCAN 0",
        "MODULE LIST",
        "SHUTDOWN NOSAVE",
        "SCRIPT FLUSH",
        "FUNCTION LIST",
        "ACL LIST",
        "CLIENT LIST",
        "MONITOR",
        "REPLICAOF NO ONE",
        "BGREWRITEAOF",
        "GET elsewhere",
        "PUBLISH elsewhere x",
    ],
)
def test_service_is_refused(redis_server: RedisServer, user: str, command: str) -> None:
    with client(redis_server, user) as service, pytest.raises(NoPermissionError):
        service.execute_command(*command.split())


@pytest.mark.parametrize("user", SERVICES)
def test_service_can_use_its_queue(redis_server: RedisServer, user: str) -> None:
    key = "{message_queue/0}:ready:5"
    script = (
        "redis.call('LPUSH', KEYS[1], redis.call('TIME')[1]); return redis.call('LLEN', KEYS[1])"
    )
    with client(redis_server, user) as service:
        service.delete(key)
        digest = service.script_load(script)
        assert service.evalsha(digest, 1, key) == 1
        assert service.brpop([key], timeout=1) is not None
        service.publish("gatepost:revocations", "3")


def test_only_the_main_server_sees_how_redis_is(redis_server: RedisServer) -> None:
    with client(redis_server, "gatepost_main") as main:
        assert main.info("memory")["maxmemory"] == 2 * 1024**3
        assert main.config_get("appendfsync") == {"appendfsync": "always"}
    for user in ("gatepost_proxy", "gatepost_worker"):
        for command in ("INFO", "CONFIG GET *"):
            with client(redis_server, user) as other, pytest.raises(NoPermissionError):
                other.execute_command(*command.split())


def test_nobody_comes_in_without_a_password(redis_server: RedisServer) -> None:
    with (
        redis.Redis(port=redis_server.port, retry=Retry(NoBackoff(), 0)) as stranger,
        pytest.raises(redis.AuthenticationError),
    ):
        stranger.ping()


def test_a_killed_server_comes_back_with_its_data(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("killed-redis")
    with RedisServer(engines, folder) as server:
        with client(server) as operator:
            operator.set("kept", "yes")
        server.kill()
        server.start()
        with client(server) as operator:
            assert operator.get("kept") == b"yes"
    with RedisServer(engines, folder) as again, client(again) as operator:
        assert operator.get("kept") == b"yes"


TRANSACTION = "redis.call('HSET', KEYS[1], 'body', 'x'); redis.call('LPUSH', KEYS[2], 'id')"


@pytest.mark.parametrize("lost", [1, 20, 40, 60])
def test_half_a_transaction_is_never_carried_out(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory, lost: int
) -> None:
    """What a torn end has left of a script must not come back at the restart after the next."""
    server = RedisServer(engines, tmp_path_factory.mktemp("torn-redis"))
    with server:
        with client(server) as operator:
            operator.set("before", "kept")
            operator.eval(TRANSACTION, 2, "payload", "ready")
        server.kill()
        file = server.folder / "appendonlydir" / "appendonly.aof.1.incr.aof"
        os.truncate(file, file.stat().st_size - lost)
        server.start()
        with client(server) as operator:
            assert operator.exists("payload", "ready") == 0
            operator.set("since", "kept")
        server.kill()
        server.start()
        with client(server) as operator:
            assert operator.mget("before", "since") == [b"kept", b"kept"]
            assert operator.exists("payload", "ready") == 0
