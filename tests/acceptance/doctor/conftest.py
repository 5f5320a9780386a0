"""A stack of its own, as these tests set it up wrongly; and what doctor finds in it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from gatepost.cli.doctor.look import Look, State
from gatepost.cli.doctor.registry import all_looks
from gatepost.cli.doctor.running import Seen, run_all
from gatepost.cli.doctor.site import Site as Machine
from gatepost.cli.doctor.site import find_site
from infra.dev.stack import Stack
from tests.acceptance.client.conftest import Command
from tests.acceptance.site import Site, eventually

DISKS = {"disks", "redis-disk", "ledger-disk"}
"""How full the disk of this machine is, isn't ours to say."""
MOMENTARY = "services"
Troubles = dict[str, list[Seen]]


@pytest.fixture(scope="package")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("patient") / "var") as running:
        Site(running).wait_ready()
        yield running


@pytest.fixture
def site(patient: Stack) -> Site:
    return Site(patient)


@pytest.fixture
def gatepost(patient: Stack) -> Command:
    return Command(patient)


@pytest.fixture
def operator(site: Site) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(site.status["redis"]) as client:
        yield client


@pytest.fixture
def troubles(patient: Stack) -> Callable[..., Troubles]:
    """By look, what isn't in order. That a service isn't ready for a moment, as this machine is
    busy, counts only if it stays so."""
    looks = [one for one in all_looks() if one.name not in DISKS]

    def look(folder: Path = patient.place.config) -> Troubles:
        site = find_site(folder, folder, given=True)
        found = _look(looks, site)
        if MOMENTARY in found:
            services = [one for one in looks if one.name == MOMENTARY]
            with suppress(AssertionError):
                eventually(lambda: not _look(services, site), "ready", 5)
                del found[MOMENTARY]
        return found

    return look


def _look(looks: Sequence[Look], site: Machine) -> Troubles:
    found: Troubles = {}
    for seen in run_all(looks, site):
        if seen.finding.state is not State.OK:
            found.setdefault(seen.look.name, []).append(seen)
    return found
