"""The entry of a service: what can't be used is said in plain words, with exit code 2."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gatepost.config.settings import Listen
from gatepost.service import entry, sockets
from tests.unit.service.test_supervisor import free_ports, tiny


def refused(*arguments: str, service: str = "tests.unit.service.tiny") -> str:
    command = [sys.executable, "-m", service, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def configured(folder: Path, **tree: object) -> str:
    file = folder / "tiny.yaml"
    file.write_text(yaml.safe_dump(tree))
    return str(file)


def test_all_mistakes_of_a_configuration_are_told(tmp_path: Path) -> None:
    told = refused("--config", configured(tmp_path, server={"port": 0}, extra=1))
    assert told.startswith("tiny: ")
    for place in ("server.port", "ops", "extra"):
        assert f"  {place}: " in told


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "No such file" in refused("--config", str(tmp_path / "none.yaml"))


def test_files_that_can_not_be_used_are_all_told_before_anything_starts(tmp_path: Path) -> None:
    server, ops = free_ports(2)
    missing = [str(tmp_path / "a.pem"), str(tmp_path / "b.pem")]
    tree = {"server": {"port": server}, "ops": {"port": ops}, "files": missing}
    told = refused("--config", configured(tmp_path, **tree))
    assert told == f"tiny: {missing[0]} is not there\n{missing[1]} is not there\n"


FILES = {"cert_file": "/none/a.pem", "key_file": "/none/a.key", "ca_file": "/none/ca.pem"}
CALLER = {"url": "https://127.0.0.1:1"} | {n: f.replace("a.", "b.") for n, f in FILES.items()}
SERVICES = {
    "proxy": {"tls": FILES, "main_server": CALLER, "cache": {"folder": "/none"}},
    "worker": {"main_server": CALLER},
    "portal": {
        "tls": {name: FILES[name] for name in ("cert_file", "key_file")},
        "main_server": CALLER,
    },
    "main_server": {
        "tls": FILES,
        "keys": {"master_key_file": "/none/k"},
        "ca": {"folder": "/none"},
    },
}


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_tells_which_of_its_files_can_not_be_used(
    tmp_path: Path, service: str
) -> None:
    config = configured(tmp_path, **SERVICES[service])
    told = refused("--config", config, service=service)
    assert told.count("No such file") == len(SERVICES[service].keys() - {"cache"})


@pytest.mark.parametrize("which", ["server", "ops"])
def test_a_port_that_is_taken_is_told(tmp_path: Path, which: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        tree = {"server": {"port": free_ports(1)[0]}, "ops": {"port": free_ports(1)[0]}}
        told = refused("--config", configured(tmp_path, **(tree | {which: {"port": port}})))
    assert told == f"tiny: port 127.0.0.1:{port} can't be listened on: it is taken\n"


def test_what_the_kernel_keeps_for_a_connection_is_bounded_at_each_port() -> None:
    """Those that it takes inherit it: tests/unit/service/test_unread.py."""
    with entry.bind(Listen(port=free_ports(1)[0])) as listener:
        kept = listener.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        assert kept <= 2 * sockets.SEND_BYTES
        patience = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert patience == sockets.UNTAKEN_MS


def test_an_address_that_is_not_ours_is_told(tmp_path: Path) -> None:
    tree = {"server": {"host": "192.0.2.1", "port": 8001}, "ops": {"port": free_ports(1)[0]}}
    told = refused("--config", configured(tmp_path, **tree))
    assert "192.0.2.1:8001 can't be listened on" in told


def test_what_it_writes_is_its_own_and_no_core_is_dumped(tmp_path: Path) -> None:
    with tiny(tmp_path) as running:
        running.wait_ready()
        for pid in (running.process.pid, *running.children):
            limits = Path(f"/proc/{pid}/limits").read_text()
            (core,) = (line for line in limits.splitlines() if line.startswith("Max core"))
            assert core.split()[4:6] == ["0", "0"]
            status = Path(f"/proc/{pid}/status").read_text()
            assert "Umask:\t0077" in status
    assert os.environ.get("PROMETHEUS_MULTIPROC_DIR") is None
