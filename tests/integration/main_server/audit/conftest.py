"""An audit log that is empty: what is done to it here must not be seen by other tests."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.integration.main_server.audit.logs import empty


@pytest.fixture
def log(engine: Engine) -> Iterator[Engine]:
    empty(engine)
    yield engine
    empty(engine)
