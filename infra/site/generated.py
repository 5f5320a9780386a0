"""Writes the pages that programs make out of what the code says: `./dev docs --write`.

They are committed, so that they can be read without building anything; a test compares.
"""

from collections.abc import Mapping
from pathlib import Path

from infra.dev.paths import ROOT
from infra.site import api, capacity, privacy, problems

FOLDERS = ("docs/openapi", "docs/problems")
"""The folders in which whatever isn't written now has no place any more."""


def pages() -> Mapping[str, str]:
    """Return the pages, each by its path from the checkout."""
    return {**api.pages(), **capacity.pages(), **privacy.pages(), **problems.pages()}


def write_pages(root: Path = ROOT) -> list[str]:
    """Write the pages, and remove what isn't one of them any more; return what changed or went."""
    wanted = pages()
    changed = [name for name, text in wanted.items() if _read(root / name) != text]
    for name in changed:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(wanted[name], encoding="utf-8")
    gone = [name for name in written(root) if name not in wanted]
    for name in gone:
        (root / name).unlink()
    return [*changed, *gone]


def written(root: Path = ROOT) -> list[str]:
    """Return the files in the folders that are ours alone."""
    files = (file for folder in FOLDERS for file in sorted((root / folder).glob("*")))
    return [str(file.relative_to(root)) for file in files]


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None
