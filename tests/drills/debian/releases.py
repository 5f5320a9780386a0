"""Releases for a drill: the checkout as it is, under a version of its own, or with other tables."""

import re
import shutil
import tempfile
from pathlib import Path

from infra.dev.commands.build import build
from infra.dev.paths import CACHE, LOCKS, ROOT
from infra.dev.private import private_folder
from infra.dev.python import download

_PARTS = (
    *("gatepost", "proxy", "worker", "main_server", "portal", "analytics", "migrations"),
    *("systemd", "infra", "locks", "docs", "pyproject.toml", "LICENSE"),
)
_MIGRATION = '''"""Of a drill."""

from alembic import op

revision = "{number}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("{adds}")
'''


def make(version: str, folder: Path, *, adds: str | None = None) -> Path:
    """The wheel. `adds` is a statement, by which its tables are others than those of today."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name)
        for part in _PARTS:
            _copy(ROOT / part, source / part)
        for file, quote in (("pyproject.toml", "version"), ("gatepost/__init__.py", "__version__")):
            place = source / file
            said = re.sub(
                rf'^{quote} = ".*"', f'{quote} = "{version}"', place.read_text(), flags=re.M
            )
            place.write_text(said)
        if adds:
            _add_migration(source / "migrations" / "versions", adds)
        return build(source, folder)


def packages() -> Path:
    """What the lock names, as files."""
    folder = CACHE / "drill-packages"
    stamp, lock = folder / "made-from.txt", LOCKS / "server.txt"
    if not stamp.exists() or stamp.read_text() != lock.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        download(lock, private_folder(folder))
        stamp.write_text(lock.read_text())
    return folder


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def _add_migration(folder: Path, adds: str) -> None:
    last = max(file.name.split("_")[0] for file in folder.glob("[0-9]*.py"))
    number = f"{int(last) + 1:04d}"
    text = _MIGRATION.format(number=number, before=last, adds=adds)
    (folder / f"{number}_of_a_drill.py").write_text(text)
