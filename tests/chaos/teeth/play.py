"""`python -m tests.chaos.teeth.play SCENE FOLDER`: plays one scene with the code of this tree.

The runner starts it in a copy with a bug in it. Every process that it starts runs that copy's code,
whatever is installed; only the checker's verdict is not this tree's business.
"""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.dev.engines import find, find_engines
from infra.dev.paths import ROOT
from infra.dev.private import private_folder
from tests.acceptance.two_stores.rig import Rig
from tests.chaos.disk import Disk
from tests.chaos.teeth.bed import Bed
from tests.chaos.teeth.scenes import SCENES, power_cut


def play(name: str, folder: Path) -> None:
    """Leaves the evidence below the folder."""
    vars(find)["PASSED_ON"] = (*find.PASSED_ON, "PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    scene = SCENES[name]
    with (
        _disk(folder, wanted=scene is power_cut) as disk,
        Rig(find_engines(), folder / "var") as rig,
    ):
        os.sync()  # what is made once is there after a power cut
        bed = Bed(rig, folder, disk)
        scene(bed)
        bed.finish()


@contextmanager
def _disk(folder: Path, *, wanted: bool) -> Iterator[Disk | None]:
    """One for the data of both stores."""
    if not wanted:
        yield None
        return
    disk = Disk(folder / "disk.img", folder / "disk")
    disk.make()
    try:
        private_folder(folder / "var")
        (folder / "var").chmod(0o711)
        for store in ("redis", "mariadb"):
            (folder / "disk" / store).mkdir(mode=0o700)
            (folder / "var" / store).symlink_to(folder / "disk" / store)
        yield disk
    finally:
        disk.unmount()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.teeth.play")
    parser.add_argument("scene", choices=SCENES)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    play(arguments.scene, arguments.folder)
