"""What systemd is told, heard on a socket like its own: by a real service with real children."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from gatepost.service.notify import Manager, missing
from tests.unit.service.test_supervisor import PATIENCE, Tiny, tiny

WATCHDOG_SECONDS = 0.8


class Systemd:
    """The end of the socket that systemd has."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self.path = path
        self.heard: list[str] = []

    def listen(self, seconds: float) -> str | None:
        """The next that it is told, None if that is nothing for so long."""
        self._socket.settimeout(seconds)
        try:
            said = self._socket.recv(4096).decode()
        except TimeoutError:
            return None
        self.heard.append(said)
        return said

    def until(self, wanted: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            said = self.listen(1.0)
            if said is not None and wanted(said):
                return said
        raise AssertionError(f"{what} was not told; heard {self.heard}")

    def told(self, state: str) -> str:
        return self.until(lambda said: said.startswith(state), state)

    def close(self) -> None:
        self._socket.close()

    def variables(self) -> dict[str, str]:
        return {
            "NOTIFY_SOCKET": str(self.path),
            "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1_000_000)),
        }


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    manager = Systemd(tmp_path / "notify")
    yield manager
    manager.close()


@pytest.fixture
def service(tmp_path: Path, systemd: Systemd) -> Iterator[Tiny]:
    with tiny(tmp_path, systemd.variables(), workers=2) as running:
        yield running


def test_it_is_told_that_we_are_ready_when_we_are(systemd: Systemd, service: Tiny) -> None:
    systemd.told("READY=1")
    assert service.readiness()[0] == 200
    assert systemd.told("STATUS=") == "STATUS=ready"


def test_it_is_not_told_before_and_why_not(tmp_path: Path, systemd: Systemd) -> None:
    with tiny(tmp_path, systemd.variables(), problem="it does not answer") as running:
        systemd.told("STATUS=thing: it does not answer")
        assert systemd.told("WATCHDOG=1"), "it turns, all the same"
        assert "READY=1" not in systemd.heard
        running.reload(problem=None)
        systemd.told("STATUS=ready")
        assert systemd.heard.count("READY=1") >= 1


def test_keep_alives_come_well_within_their_time(systemd: Systemd, service: Tiny) -> None:
    systemd.told("READY=1")
    begun = time.monotonic()
    for _ in range(8):
        systemd.told("WATCHDOG=1")
    assert time.monotonic() - begun < 8 * WATCHDOG_SECONDS / 2


def test_a_loop_of_a_child_that_stands_still_ends_them(tmp_path: Path, systemd: Systemd) -> None:
    """Nobody replaces it here, so that it is systemd that would."""
    environment = systemd.variables() | {"STUCK_AFTER": "60"}
    with tiny(tmp_path, environment, workers=2) as running:
        systemd.told("READY=1")
        running.wait_ready().told("/stuck")
        deadline = time.monotonic() + PATIENCE
        while systemd.listen(WATCHDOG_SECONDS * 2) is not None:
            assert time.monotonic() < deadline, "it is still told that all is well"
        assert httpx.get(f"http://127.0.0.1:{running.ops}/healthz", trust_env=False).is_success
        assert running.process.poll() is None


def test_when_the_stuck_one_has_been_replaced_they_come_again(
    systemd: Systemd, service: Tiny
) -> None:
    systemd.told("READY=1")
    service.wait_ready().told("/stuck")
    systemd.until(lambda _: bool(service.events("process.died")), "a death")
    systemd.told("WATCHDOG=1")


def test_it_is_told_that_we_stop(systemd: Systemd, service: Tiny) -> None:
    systemd.told("READY=1")
    service.wait_ready()
    assert service.stop() == 0
    systemd.told("STOPPING=1")
    while systemd.listen(0.1):
        pass
    assert "READY=1" not in systemd.heard[systemd.heard.index("STOPPING=1") :]


def test_while_it_reloads_it_says_so_and_then_that_it_is_ready(
    systemd: Systemd, service: Tiny
) -> None:
    systemd.told("READY=1")
    service.wait_ready()
    before = time.monotonic_ns() // 1000
    service.reload(note="another")
    reloading = systemd.told("RELOADING=1")
    stamp = int(reloading.partition("MONOTONIC_USEC=")[2])
    assert before <= stamp <= time.monotonic_ns() // 1000
    systemd.told("READY=1")
    (reloaded,) = service.events("settings.reloaded")
    assert reloaded["replaced"] == 2


def test_what_was_refused_is_in_the_status(systemd: Systemd, service: Tiny) -> None:
    systemd.told("READY=1")
    service.reload(extra=1)
    systemd.until(lambda said: "refused" in said, "the refusal")
    service.settings.pop("extra")
    service.reload()
    assert systemd.told("STATUS=") == "STATUS=ready"


def test_children_are_not_told_whom_to_tell(systemd: Systemd, service: Tiny) -> None:
    service.wait_ready()
    environment = dict(systemd.variables())
    Manager.of(environment)
    assert environment == {}


def test_another_processs_watchdog_is_none_of_ours(systemd: Systemd) -> None:
    manager = Manager.of(systemd.variables() | {"WATCHDOG_PID": "1"})
    manager.alive()
    manager.say("here")
    assert systemd.listen(1.0) == "STATUS=here"


def test_without_systemd_nobody_is_told() -> None:
    manager = Manager.of({})
    for tell in (manager.ready, manager.reloading, manager.stopping, manager.alive):
        tell()
    manager.say("ready")


def test_a_manager_that_has_gone_or_does_not_keep_up_holds_nobody_up(tmp_path: Path) -> None:
    Manager(str(tmp_path / "gone"), 1.0).alive()
    deaf = Systemd(tmp_path / "deaf")
    manager = Manager(str(deaf.path), 1.0)
    for number in range(10_000):
        manager.say(str(number))
    deaf.close()


def test_an_abstract_address_is_one(tmp_path: Path) -> None:
    name = f"gatepost-test-{tmp_path.name}-{time.monotonic_ns()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0{name}")
        listening.settimeout(5)
        Manager(f"@{name}").ready()
        assert listening.recv(100) == b"READY=1"


def test_a_status_is_one_line() -> None:
    checks = {"a": {"ok": True, "detail": None}, "b": {"ok": False, "detail": "no\nway"}}
    assert missing(checks) == "b: no way"
    with suppress(KeyError):
        assert missing({}) == "stopping"
