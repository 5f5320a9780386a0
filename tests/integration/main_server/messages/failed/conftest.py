from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, update

from main_server.keys.service import Keyring
from main_server.store.database import transact
from main_server.store.tables import redrives
from tests.integration.main_server.town import Town, found_town


@pytest.fixture
def town(engine: Engine, ring: Keyring) -> Iterator[Town]:
    """Whose redrives have ended when the next one is founded: they take turns with each other."""
    yield found_town(engine, ring)
    transact(engine, lambda c: c.execute(update(redrives).values(state="stopped")))
