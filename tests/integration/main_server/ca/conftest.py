"""A CA in a folder, for tests that run `gatepost` on it."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from infra.dev.engines import RedisServer
from tests.integration.main_server.ca.ca_room import CaRoom


@pytest.fixture
def room(
    tmp_path: Path,
    engine: Engine,
    database_url: str,
    redis_url: str,
    redis_server: RedisServer,
    capsys: pytest.CaptureFixture[str],
) -> CaRoom:
    return CaRoom(tmp_path, engine, database_url, redis_server.url("gatepost_main"), capsys)
