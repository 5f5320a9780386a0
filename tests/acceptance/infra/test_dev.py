"""`./dev` as a newcomer meets it: a copy of the checkout, nothing set up, ports of its own."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.dev.paths import CACHE, ROOT
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


@pytest.mark.xdist_group("dev")
def test_from_nothing_to_a_delivered_message_and_back(checkout: Checkout) -> None:
    nothing = checkout.dev("status")
    assert nothing.returncode == 1
    assert "Nothing runs here" in nothing.stderr

    up = checkout.dev("up", "--detach", "--port-base", str(checkout.base))
    assert up.returncode == 0, up.stdout + up.stderr
    assert "delivered in" in up.stdout

    status = json.loads(checkout.dev("status", "--json").stdout)
    assert status["proxy"] == f"https://{HOST}:{checkout.base + 1}"
    assert status["data"] == str(checkout.folder / "var")

    (curl,) = [line for line in up.stdout.splitlines() if "| curl" in line]
    pasted = checkout.run(["sh", "-c", curl])
    assert json.loads(pasted.stdout)["status"] == "queued", pasted.stderr

    again = checkout.dev("up", "--port-base", str(checkout.base))
    assert again.returncode == 1
    assert "A stack runs here already" in again.stderr

    assert "delivery.attempted" in checkout.dev("logs", "worker").stdout

    assert checkout.dev("down").returncode == 0
    assert checkout.dev("status", "--json").returncode == 1
    for pids in status["pids"].values():
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.xdist_group("dev")
def test_a_taken_port_is_told_with_its_holder(checkout: Checkout) -> None:
    with socket.create_server((HOST, checkout.base + 1)):
        up = checkout.dev("up", "--detach", "--port-base", str(checkout.base))
    assert up.returncode == 1
    said = up.stdout + up.stderr
    assert f"Port {checkout.base + 1} (proxy) is taken by" in said
    assert f"(process {os.getpid()})" in said
    assert "./dev up --port-base" in said
