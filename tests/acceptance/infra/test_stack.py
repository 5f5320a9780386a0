"""A stack in the background: ready means a message gets through, and what is killed comes back."""

import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.dev.first_message import send_first_message
from infra.dev.services import not_ready
from infra.dev.stack import Stack

KEYS = ["proxy", "main_server", "pki", "portal", "redis", "database", "metrics", "ca"]
KEYS += ["client", "admin", "pids", "data"]


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_status_has_what_is_promised_to_scripts(stack: Stack) -> None:
    status = stack.status()
    assert list(status) == KEYS
    assert set(status["metrics"]) == {"main_server", "worker", "proxy", "portal"}
    assert set(status["pids"]) == {"redis", "mariadb", *status["metrics"]}
    assert len(status["pids"]["worker"]) == len(status["pids"]["proxy"]) == 3
    for file in (status["ca"], *status["client"].values(), status["admin"]["key"]):
        assert Path(file).is_file()


def test_a_message_gets_through(stack: Stack) -> None:
    assert send_first_message(stack.status()) < 5000


@pytest.mark.parametrize(
    "service", ["proxy", "portal", "worker", "main_server", "mariadb", "redis"]
)
def test_what_is_killed_comes_back_and_that_is_said(stack: Stack, service: str) -> None:
    before = stack.status()["pids"][service][0]
    stack.kill(service)
    until(lambda: stack.status()["pids"][service][:1] not in ([], [before]))
    until(lambda: all(not_ready(port) is None for port in ops_ports(stack.status())))
    assert send_first_message(stack.status()) < 15000
    said = stack.place.log("stack").read_text()
    assert f"{service} was killed by signal 9" in said
    assert f"{service} runs again (process {stack.status()['pids'][service][0]})" in said


def ops_ports(status: dict[str, Any]) -> list[int]:
    return [int(url.rpartition("/")[0].rpartition(":")[2]) for (url,) in status["metrics"].values()]


def test_nobody_else_can_read_what_it_keeps(stack: Stack) -> None:
    folder = stack.place.folder
    for name in ("config", "pki", "secrets", "run", "log", "redis", "mariadb", "ca"):
        assert stat.S_IMODE((folder / name).stat().st_mode) & 0o077 == 0, name
    for file in (*stack.place.config.iterdir(), stack.place.status_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE((stack.place.secrets / "master.key").stat().st_mode) == 0o400


def test_no_password_is_in_anybodys_arguments_or_environment(stack: Stack) -> None:
    status = stack.status()
    secrets = [status[name].split("@")[0].rpartition(":")[2] for name in ("redis", "database")]
    for pids in (*status["pids"].values(), [stack.place.supervisor()]):
        for pid in pids:
            for part in ("cmdline", "environ"):
                content = Path(f"/proc/{pid}/{part}").read_text(errors="replace")
                assert not any(secret in content for secret in secrets), (pid, part)


def test_everything_listens_on_loopback_alone(stack: Stack) -> None:
    inodes = {
        str(link.readlink())
        for pids in stack.status()["pids"].values()
        for pid in pids
        for link in Path(f"/proc/{pid}/fd").iterdir()
    }
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes}
    assert len(listening) == 10
    assert {address.partition(":")[0] for address in listening} == {"0100007F"}
