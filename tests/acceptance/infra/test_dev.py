"""`./dev` as a newcomer meets it: a copy of the checkout, nothing set up, ports of its own."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.dev.paths import CACHE, ROOT
from infra.dev.place import session
from infra.dev.ports import HOST, free_base

LEFT_OUT = shutil.ignore_patterns("var", ".git", "__pycache__", ".*_cache", ".hypothesis")


class Checkout:
    """A copy in which nothing was set up yet. Packages come from the cache of ours, to be quick."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = free_base()
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        self._environment = os.environ | {
            "UV_CACHE_DIR": str(CACHE / "uv"),
            "PIP_CACHE_DIR": str(CACHE / "pip"),
        }

    def dev(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return self.run(["./dev", *arguments])

    def up(self) -> "subprocess.CompletedProcess[str]":
        return self.dev("up", "--detach", "--port-base", str(self.base))

    def crash(self) -> None:
        """SIGKILL to the supervisor; what it has started ends with it."""
        os.kill(int((self.folder / "var/run/supervisor.lock").read_text()), signal.SIGKILL)

    def queue(self, *arguments: str) -> None:
        """`gatepost queue`, which must do it."""
        config = ["--config", "var/config/main_server.yaml"]
        done = self.run(["var/venv/bin/gatepost", "queue", *arguments, *config])
        assert done.returncode == 0, done.stderr

    def run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=240,
        )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    copy = Checkout(tmp_path_factory.mktemp("new") / "a checkout")
    yield copy
    copy.dev("down")


def test_from_nothing_to_a_delivered_message_through_a_crash_and_down(checkout: Checkout) -> None:
    nothing = checkout.dev("status")
    assert nothing.returncode == 1
    assert "Nothing runs here" in nothing.stderr
    assert "./dev up" in checkout.dev("logs").stderr

    up = checkout.up()
    assert up.returncode == 0, up.stdout + up.stderr
    assert "delivered in" in up.stdout
    status = json.loads(checkout.dev("status", "--json").stdout)
    assert status["proxy"] == f"https://{HOST}:{checkout.base + 1}"
    assert status["data"] == str(checkout.folder / "var")

    (curl,) = [line for line in up.stdout.splitlines() if "| curl" in line]
    receipt = json.loads(checkout.run(["sh", "-c", curl]).stdout)

    second = checkout.up()
    assert second.returncode == 1
    assert "A stack runs here already" in second.stdout + second.stderr

    checkout.queue("pause", "example.com", "--reason", "to be seen at a start")
    checkout.crash()
    after_the_crash = checkout.up()
    assert after_the_crash.returncode == 0, after_the_crash.stdout + after_the_crash.stderr
    for words in ("Paused: the queue example.com:messages", "1 message waits."):
        assert words in after_the_crash.stdout
    checkout.queue("resume", "example.com")
    assert not processes(status)
    shown = checkout.run(["var/venv/bin/gatepost", "message", "show", receipt["message_id"]])
    assert "delivered" in shown.stdout, shown.stderr
    assert "delivery.attempted" in checkout.dev("logs", "worker").stdout

    status = json.loads(checkout.dev("status", "--json").stdout)
    assert checkout.dev("down").returncode == 0
    assert checkout.dev("status", "--json").returncode == 1
    assert not processes(status)


def test_a_taken_port_is_told_with_its_holder(checkout: Checkout) -> None:
    with socket.create_server((HOST, checkout.base + 1)):
        up = checkout.up()
    assert up.returncode == 1
    said = up.stdout + up.stderr
    assert f"Port {checkout.base + 1} (proxy) is taken by" in said
    assert f"(process {os.getpid()})" in said
    assert "./dev up --port-base" in said


def processes(status: dict[str, Any]) -> list[int]:
    """Those of that run that there still are."""
    return [pid for leader, *_ in status["pids"].values() for pid in session(leader)]
