"""Where things lie: the checkout, and below `var/` everything that running it makes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var"
VENV = VAR / "venv"
BOOT = VAR / "boot"
CACHE = VAR / "cache"
ENGINES = VAR / "engines"
LOCKS = ROOT / "locks"
BUILD_CONSTRAINTS = ROOT / "infra" / "dev" / "build-constraints.txt"
