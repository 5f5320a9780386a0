"""A whole stack, as `./dev up` runs it: real processes, mTLS, free ports, a temporary folder."""

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from gatepost.trust.identity import Identity, Role
from infra.dev.stack import Stack
from tests.acceptance.site import Site, eventually


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("stack") / "var") as running:
        yield running


@pytest.fixture(scope="package")
def site(stack: Stack) -> Site:
    site = Site(stack)
    site.wait_ready()
    return site


@pytest.fixture(scope="package")
def portal(site: Site) -> Iterator[httpx.Client]:
    """Speaks to the main server as a portal does, by a certificate of its own."""
    pair = site.issue(Identity("gatepost", Role.PORTAL, f"portal-{uuid4().hex[:8]}"))
    with site.calling(pair.files, "main_server") as client:
        eventually(lambda: client.get("/api/portal/keys").status_code == 200, "it is known")
        yield client
