"""A CA in a folder, for tests that run `gatepost` on it."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from gatepost.clock import Clock
from gatepost.logs import Log
from gatepost.queue import connect
from infra.dev.engines import RedisServer
from main_server.ca.online import OnlineCa
from main_server.settings import Authority as Settings
from main_server.store.database import Ledger
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


@pytest.fixture
def online(room: CaRoom) -> OnlineCa:
    settings = Settings(folder=room.ca, crl_file=room.crl_file)
    return OnlineCa(
        Log("test", "error"), settings, Ledger(room.engine, 4), Clock(), connect(room.redis)
    )
