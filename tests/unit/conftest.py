"""What unit tests share: a certificate authority, made once for each session."""

import pytest

from tests.factories import Pki


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return Pki(tmp_path_factory.mktemp("ca"))
