"""What the unit of Redis does before each start, as it stands there, on a file that is torn."""

import os
import subprocess
from pathlib import Path

import pytest
import redis

from infra.dev.engines import Engines, RedisServer
from tests.unit.systemd.units import said

UNIT = "gatepost-redis.service"
TRANSACTION = "redis.call('SET', KEYS[1], 'x'); redis.call('SET', KEYS[2], 'x')"


def mend(engines: Engines, folder: Path, tmp_path: Path) -> None:
    """Its ExecStartPre, with the folder and the checker of this test."""
    (line,) = said(UNIT, "ExecStartPre")
    checker = tmp_path / "redis-check-aof"
    if not checker.exists():
        checker.symlink_to(engines.redis.program)  # the server itself, called by another name
    script = line.partition("-ec '")[2].rstrip("'")
    script = script.replace("/var/lib/gatepost/redis", str(folder))
    script = script.replace("/usr/bin/redis-check-aof", str(checker))
    assert "/usr/" not in script
    subprocess.run(["/bin/sh", "-ec", script], check=True, env=dict(engines.redis.environment))


def test_a_folder_without_data_is_let_be(engines: Engines, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    mend(engines, tmp_path / "empty", tmp_path)


@pytest.mark.parametrize("lost", [1, 20, 45])
def test_a_torn_file_is_mended_and_redis_starts(
    engines: Engines, tmp_path: Path, lost: int
) -> None:
    server = RedisServer(engines, tmp_path / "redis")
    with server:
        with redis.Redis.from_url(server.url()) as operator:
            operator.set("before", "kept")
            operator.eval(TRANSACTION, 2, "torn", "too")
        server.kill()
        file = server.folder / "appendonlydir" / "appendonly.aof.1.incr.aof"
        os.truncate(file, file.stat().st_size - lost)
        torn = file.stat().st_size
        mend(engines, server.folder, tmp_path)
        assert file.stat().st_size < torn, "it has taken away what was left of the transaction"
        server.start()
        with redis.Redis.from_url(server.url()) as operator:
            assert operator.mget("before", "torn") == [b"kept", None]
            assert not operator.exists("too")
