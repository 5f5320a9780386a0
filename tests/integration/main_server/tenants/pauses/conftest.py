"""A town whose queues and intake are paused."""

import pytest
from sqlalchemy import Engine

from main_server.keys.service import Keyring
from tests.integration.main_server.town import Town, found_town


@pytest.fixture
def town(engine: Engine, ring: Keyring) -> Town:
    return found_town(engine, ring)
