"""A rig of real processes, one for each xdist worker, as new for each test."""

from collections.abc import Iterator

import pytest

from infra.dev.engines import Engines
from tests.acceptance.two_stores.rig import Rig

SERVICES = ("main_server", "proxy", "worker")


@pytest.fixture(scope="package")
def one_rig(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with Rig(engines, tmp_path_factory.mktemp("rig") / "var") as rig:
        yield rig


@pytest.fixture
def rig(one_rig: Rig) -> Iterator[Rig]:
    """With whole wires and empty stores; what runs of its services goes on running."""
    one_rig.heal()
    one_rig.clear()
    yield one_rig
    for name in list(one_rig.children):
        if name not in SERVICES or one_rig.children[name].exit_code() is not None:
            one_rig.kill(name)


@pytest.fixture
def edge(rig: Rig) -> Rig:
    """With a main server and a proxy, no worker, and nothing in its stores."""
    having(rig, "main_server", "proxy")
    with rig.client() as client:
        rig.settle(client)
    rig.clear()
    return rig


@pytest.fixture
def whole(rig: Rig) -> Rig:
    """With all three, and nothing in its stores."""
    having(rig, *SERVICES)
    with rig.client() as client:
        rig.wait_delivered([rig.settle(client)])
    rig.clear()
    return rig


def having(rig: Rig, *names: str) -> None:
    for name in set(rig.children) - set(names):
        rig.kill(name)
    rig.start(*(name for name in names if name not in rig.children))
