"""The places of things: the checkout, and below `var/` everything that running it makes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var"
VENV = VAR / "venv"
BOOT = VAR / "boot"
CACHE = VAR / "cache"
ENGINES = VAR / "engines"
DOCS = VAR / "docs"
LOCKS = ROOT / "locks"
BUILD_CONSTRAINTS = "infra/dev/build-constraints.txt"
"""The file of build constraints, relative to the checkout: its own name may hold spaces, which uv
and pip take for several files."""
