"""`./dev build`: writes two wheels into dist/: the release, which `gatepost install` puts on a
machine, and what partners install."""

import sys
import tempfile
from pathlib import Path

from infra.dev.options import checks
from infra.dev.paths import ROOT
from infra.dev.steps import Failure, give_up, run

DIST = ROOT / "dist"
CLIENT = Path("infra/client")


def build(source: Path, folder: Path) -> Path:
    """Build the wheel of the release, from the checkout in `source`; return its file."""
    return _build(source, folder)


def build_client(source: Path, folder: Path) -> Path:
    """Build the wheel for partners; return its file."""
    return _build(source / CLIENT, folder)


def _build(project: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as name:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name]
        run("building the wheel", command, folder=project)
        (wheel,) = Path(name).glob("*.whl")
        return wheel.replace(folder / wheel.name)


if __name__ == "__main__":
    checks.build().parse_args()
    try:
        print(build(ROOT, DIST))
        print(build_client(ROOT, DIST))
    except Failure as failure:
        give_up(failure)
