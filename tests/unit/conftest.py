"""What unit tests share: an authority for each session, and a view of what is revoked."""

from pathlib import Path

import pytest

from gatepost.clock import Clock
from gatepost.trust.revoked import Revoked, open_view
from tests.factories import Pair, Pki, identity
from tests.lists import Issuer


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return Pki(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    """Who signs lists."""
    return Issuer(tmp_path / "ca")


@pytest.fixture
def pair(issuer: Issuer) -> Pair:
    return issuer.pki.issue(identity())


@pytest.fixture
def view(issuer: Issuer) -> Revoked:
    return open_view(issuer.pins, Clock())
