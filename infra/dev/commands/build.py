"""`./dev build`: the release as one file, into dist/: what `gatepost install` puts on a machine."""

import sys
import tempfile
from pathlib import Path

from infra.dev.options import checks
from infra.dev.paths import ROOT
from infra.dev.steps import Failure, give_up, run

DIST = ROOT / "dist"


def build(source: Path, folder: Path) -> Path:
    """The wheel of the checkout in `source`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as name:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name]
        run("building the wheel", command, folder=source)
        (wheel,) = Path(name).glob("*.whl")
        return wheel.replace(folder / wheel.name)


if __name__ == "__main__":
    checks.build().parse_args()
    try:
        print(build(ROOT, DIST))
    except Failure as failure:
        give_up(failure)
