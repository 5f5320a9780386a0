"""The harbour, once for all of a session; a browser for each module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.acceptance.browser.chrome import open_chromium
from tests.acceptance.browser.harbour import Harbour
from tests.acceptance.site import Site


@pytest.fixture(scope="package")
def harbour(site: Site) -> Harbour:
    return Harbour(site)


@pytest.fixture(scope="module")
def chromium(site: Site, harbour: Harbour) -> Iterator[Browser]:
    """After the harbour: what that does on asyncio's loops can't be done while it runs."""
    with open_chromium(site) as browser:
        yield browser
