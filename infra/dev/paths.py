"""Where things lie: the checkout, and below `var/` everything that running it makes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var"
VENV = VAR / "venv"
BOOT = VAR / "boot"
CACHE = VAR / "cache"
ENGINES = VAR / "engines"
LOCKS = ROOT / "locks"


def private_folder(folder: Path) -> Path:
    """The folder, made if need be, with its parents; what is made is its owner's alone."""
    if not folder.exists():
        private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder
