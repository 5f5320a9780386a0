"""A browser that nobody has used."""

import pytest

from tests.unit.portal.browser import Browser


@pytest.fixture
def browser() -> Browser:
    return Browser()
