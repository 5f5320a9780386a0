"""Somebody whom no other test knows."""

import pytest

from infra.dev.stack import Stack
from tests.acceptance.site import Site
from tests.integration.main_server.new_people import People


@pytest.fixture
def people(stack: Stack) -> People:
    return People(Site(stack).engine)
