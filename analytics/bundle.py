"""Pack our packages into an archive, which spark-submit hands to the executors (`--py-files`): what
runs there finds the modules that the driver has, whatever is installed on those machines."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import analytics
import gatepost

NAME = "gatepost-executors.zip"
"""The archive's name. The driver leaves it aside (analytics/main.py): it has the packages
themselves."""
PACKAGES = (analytics, gatepost)


def make(folder: Path) -> Path:
    archive = folder / NAME
    with ZipFile(archive, "w", ZIP_DEFLATED) as target:
        for package in PACKAGES:
            (root,) = map(Path, package.__path__)
            for module in sorted(root.rglob("*.py")):
                target.write(module, module.relative_to(root.parent))
    return archive
