"""Passwords are made once and kept; templates hold none."""

import json
import stat
from pathlib import Path

from infra.dev.engines.accounts import fill, passwords

TEMPLATE = "# a comment about @nobody@\nuser main on #@main@\n\n-- and another\nuser edge @edge@\n"


def test_each_user_gets_a_password_of_its_own_once(tmp_path: Path) -> None:
    file = tmp_path / "passwords.json"
    first = passwords(file, "@main@ @edge@ @main@")
    assert set(first) == {"main", "edge"}
    assert len(set(first.values())) == 2
    assert passwords(file, "@main@ @edge@") == first
    assert passwords(file, "@main@ @late@").items() >= first.items()
    assert set(json.loads(file.read_text())) == {"main", "edge", "late"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_template_is_filled_without_its_comments() -> None:
    filled = fill(TEMPLATE, {"main": "1", "edge": "2"})
    assert filled == "user main on #1\nuser edge 2\n"
