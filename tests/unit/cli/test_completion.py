"""The shell completes commands, options, and what may stand behind them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "gatepost"


def completed(*words: str) -> list[str]:
    """As bash asks for it, after Tab behind the last of these words."""
    asked = {
        "_GATEPOST_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("gatepost", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [PROGRAM], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("cert re", {"register", "release", "renew", "revoke"}),
        ("cert revoke --d", {"--dry-run"}),
        ("cert revoke --reason key", {"keyCompromise"}),
        ("cert issue --role p", {"portal", "proxy"}),
    ],
)
def test_what_begins_so_is_offered(typed: str, found: set[str]) -> None:
    assert set(completed(*typed.split())) == found
