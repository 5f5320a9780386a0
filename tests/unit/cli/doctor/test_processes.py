"""Whose a process is, and what it may leave behind."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gatepost.cli.doctor.look import State
from gatepost.cli.doctor.looks.programs import LOOKS
from gatepost.cli.doctor.processes import core_limit, of_service
from gatepost.cli.doctor.site import Part, Site
from proxy.service import service
from tests.heard import wait_until

(CORE_DUMPS,) = (look for look in LOOKS if look.name == "core-dumps")


@contextmanager
def pretended(file: Path, most: int) -> Iterator[int]:
    """A process that is called as a proxy would be."""
    arguments = [sys.executable, "-c", "input()", "-m", "proxy", "--config", str(file)]
    child = subprocess.Popen(arguments, stdin=subprocess.PIPE)
    try:
        hard = resource.prlimit(child.pid, resource.RLIMIT_CORE)[1]
        resource.prlimit(child.pid, resource.RLIMIT_CORE, (most, hard))
        wait_until(lambda: [one.pid for one in of_service("proxy", file)] == [child.pid])
        yield child.pid
    finally:
        child.communicate(b"\n")


def test_a_process_that_may_leave_a_core_dump(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    site = Site(tmp_path, True, {"proxy": Part("proxy", file, service)})
    with pretended(file, 0) as pid:
        assert core_limit(pid) == "0"
        assert of_service("worker", file) == of_service("proxy", tmp_path / "other.yaml") == []
        assert [one.state for one in CORE_DUMPS.see(site)] == [State.OK]
    with pretended(file, 4096) as pid:
        (found,) = CORE_DUMPS.see(site)
        assert found.state is State.WRONG
        assert str(pid) in found.found
    assert list(CORE_DUMPS.see(site)) == []
