"""A whole stack, as `./dev up` runs it: real processes, mTLS, free ports, a temporary folder."""

from collections.abc import Iterator

import pytest

from infra.dev.stack import Stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("stack") / "var") as running:
        yield running
