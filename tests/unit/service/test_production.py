"""In production a service with sample secrets or open key files does not start, and says why."""

import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from main_server.ca.authority import Usage
from tests.factories import Pki, identity

GOOD = secrets.token_urlsafe(24)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    key = tmp_path / "master.key"
    key.write_bytes(secrets.token_bytes(32))
    key.chmod(0o400)
    Pki(tmp_path / "ca")
    return tmp_path


def settings(service: str, folder: Path, password: str = GOOD) -> dict[str, Any]:
    pair = Pki(folder / "ca").issue(identity(), Usage.SERVER)
    pair.key.chmod(0o600)
    tls = {"cert_file": str(pair.cert), "key_file": str(pair.key), "ca_file": str(pair.ca)}
    tree: dict[str, Any] = {
        "ops": {"port": 1},
        "redis": {"url": f"redis://user:{password}@127.0.0.1:1/0"},
    }
    if service == "main_server":
        url = f"mysql+pymysql://user:{password}@127.0.0.1:1/gatepost"
        keys = {"master_key_file": str(folder / "master.key")}
        return tree | {
            "tls": tls,
            "database": {"url": url},
            "keys": keys,
            "ca": {"folder": str(folder / "ca")},
        }
    tree["main_server"] = {"url": "https://127.0.0.1:1", **tls}
    if service == "proxy":
        tree |= {"tls": tls, "cache": {"folder": str(folder / "cache")}}
    if service == "portal":
        tree = {"ops": tree["ops"], "main_server": tree["main_server"]}
        tree |= {"tls": {name: tls[name] for name in ("cert_file", "key_file")}}
    return tree


def start(service: str, folder: Path, tree: dict[str, Any]) -> str:
    """What it says. It never comes to run: its operators' port is one that it may not have."""
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump(tree))
    command = [sys.executable, "-m", service, "--config", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert GOOD not in done.stderr
    assert "changeme" not in done.stderr
    return done.stderr


SERVICES = pytest.mark.parametrize("service", ["main_server", "portal", "proxy", "worker"])


@SERVICES
def test_one_that_is_in_order_gets_as_far_as_its_ports(service: str, folder: Path) -> None:
    tree = settings(service, folder) | {"ops": {"host": "192.0.2.1", "port": 1}}
    assert "not in production" not in (said := start(service, folder, tree))
    assert "can't be listened on" in said


@SERVICES
def test_every_sample_secret_and_open_key_is_told(service: str, folder: Path) -> None:
    tree = settings(service, folder, "changeme")
    for key in (*folder.glob("ca/*.key"), *folder.glob("*.key")):
        key.chmod(0o400 if key.name == "master.key" else 0o644)
    (folder / "master.key").chmod(0o600)
    (folder / "master.key").write_bytes(bytes(32))
    folder.chmod(0o755)
    said = start(service, folder, tree)
    assert said.startswith(f"{service}: not in production:\n")
    wanted = {
        "main_server": ("database: its password", "redis: its password", "tls: ", "keys: ", "ca: "),
        "portal": ("tls: ", "main_server: "),
        "proxy": ("redis: its password", "tls: ", "main_server: "),
        "worker": ("redis: its password", "main_server: "),
    }
    for fault in wanted[service]:
        assert fault in said
    if service == "main_server":
        assert "is a sample" in said
        assert "chmod 700" in said


def test_in_development_it_starts_and_warns(folder: Path) -> None:
    tree = settings("main_server", folder, "changeme")
    tree |= {"environment": "development", "ops": {"host": "192.0.2.1", "port": 1}}
    said = start("main_server", folder, tree)
    assert "can't be listened on" in said
    assert "not in production" not in said
