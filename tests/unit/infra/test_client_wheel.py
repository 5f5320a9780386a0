"""What partners install: all that it imports, nothing of the servers', and what says what it is."""

import ast
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import gatepost
from gatepost.cli.holding import SERVICES
from infra.dev.commands.build import CLIENT, build_client
from infra.dev.paths import ROOT

ROOTS = ("gatepost.cli.main", "gatepost.client")
BESIDE_CODE = {"gatepost/py.typed", "gatepost/problems.toml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build_client(ROOT, tmp_path_factory.mktemp("dist")))


def names(wheel: zipfile.ZipFile) -> set[str]:
    return {name for name in wheel.namelist() if ".dist-info/" not in name}


def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = [one for one in wheel.namelist() if one.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def file_of(module: str) -> Path | None:
    place = ROOT / module.replace(".", "/")
    found = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in found if file.is_file()), None)


def imported_by(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def needed() -> set[str]:
    """The files of all that is imported below, but for what is looked for first."""
    found: set[Path] = set()
    waiting = list(ROOTS)
    while waiting:
        module = waiting.pop()
        file = file_of(module)
        if file is None or file in found or module.startswith(SERVICES):
            continue
        found.add(file)
        waiting += [*imported_by(file), module.rpartition(".")[0]]
    return {str(file.relative_to(ROOT)) for file in found}


def test_it_holds_what_is_imported_and_no_more(wheel: zipfile.ZipFile) -> None:
    assert names(wheel) == needed() | BESIDE_CODE


def test_it_wants_what_the_servers_want_of_it() -> None:
    read = {name: tomllib.loads((ROOT / name).read_text()) for name in PROJECTS}
    server, client = (read[name]["project"] for name in PROJECTS)
    for name in ("dependencies", "requires-python", "scripts"):
        assert client[name] == server[name]


PROJECTS = ("pyproject.toml", str(CLIENT / "pyproject.toml"))


def test_it_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    said = metadata(wheel)
    assert (said["Name"], said["Version"]) == ("gatepost-client", gatepost.__version__)
    assert said["License-Expression"] == "Apache-2.0"
    assert "Client.from_config()" in str(said.get_payload())
    # Its text stands at the top of the tree, for all of it.
    licence = any(name.endswith("/licenses/LICENSE") for name in wheel.namelist())
    assert licence is (ROOT / "LICENSE").exists()
