"""Clients that are made of docs/openapi by others' tools do what ours do, on a real stack."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.dev.client_makers import find_python_maker
from infra.dev.node import Node, find_node, install_packages
from infra.dev.paths import ROOT
from infra.site.api import FOLDER
from tests.acceptance.site import Site

NAMES = ("proxy", "admin", "pki")
PARTNERS = Path(__file__).with_name("clients")
SECONDS = 120


def document(name: str) -> str:
    return str(ROOT / FOLDER / f"{name}.json")


def run(command: Sequence[object], folder: Path, environment: Mapping[str, str]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def addresses(site: Site) -> list[object]:
    return [*(site.url(name) for name in ("proxy", "main_server", "pki")), site.stack.place.pki]


def check_done(said: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert found["role"] == "client"
    assert found["location"] == f"/api/v1/messages/{found['message_id']}"
    assert found["state"] == found["message_id"]
    assert found["batch"] == [202, 422]
    assert found["refused"] == "urn:gatepost:problem:invalid"
    assert found["pointers"] == ["/sender_number"]
    assert found["certificates"] == ["active", "active"]
    assert found["trusted"] == 2
    return found


@pytest.fixture(scope="module")
def node() -> Node:
    return find_node()


def test_a_client_in_python(site: Site, tmp_path: Path) -> None:
    maker = find_python_maker()
    environment = maker.environment(tmp_path)
    for name in NAMES:
        make = ["generate", "--meta", "none", "--config", PARTNERS / "python.yaml"]
        where = ["--path", document(name), "--output-path", tmp_path / f"made_{name}"]
        command = maker.command("-m", "openapi_python_client", *map(str, [*make, *where]))
        said = run(command, tmp_path, environment)
        warned = re.findall("^(WARNING .*|ERROR .*|Unsupported .*|Cannot .*)$", said, re.MULTILINE)
        assert warned == KNOWN_WARNINGS.get(name, []), said
    run(maker.command("-m", "compileall", "-q", "."), tmp_path, environment)
    program = str(PARTNERS / "partner.py")
    check_done(run([*maker.command(program), *addresses(site)], tmp_path, environment))


KNOWN_WARNINGS = {
    "proxy": [
        "WARNING parsing POST /api/v1/messages/batch within default.",
        "Unsupported content type application/x-ndjson",
    ]
}
"""It knows no other bodies than JSON, forms and bytes: arrays are what its clients send."""


def test_a_client_in_typescript(site: Site, node: Node, tmp_path: Path) -> None:
    modules = install_packages(node)
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for name in ("partner.ts", "tsconfig.json", "valid.mjs"):
        shutil.copy(PARTNERS / name, tmp_path)
    run([node.program, "valid.mjs", *map(document, NAMES)], tmp_path, node.environment)
    make = modules / "openapi-typescript" / "bin" / "cli.js"
    for name in NAMES:
        made = ["--output", f"{name}.d.ts"]
        run([node.program, make, document(name), *made], tmp_path, node.environment)
    compiler = modules / "typescript" / "bin" / "tsc"
    run([node.program, compiler, "--project", "."], tmp_path, node.environment)
    partner = [node.program, "made/partner.js", *addresses(site)]
    found = check_done(run(partner, tmp_path, node.environment))
    assert found["durability"] in ("full", "queue", "ledger")
    assert found["lines"] == found["batch"]
