"""What Redis may hold and what its unit may take agree wherever they are said: a unit that may take
less than a rewrite of the file needs is ended by the kernel, again and again."""

import re
from pathlib import Path

from infra.dev.paths import ROOT
from tests.unit.systemd.units import said

UNIT = "gatepost-redis.service"
_HELD = re.compile(r"maxmemory (\d+)gb")
_TAKEN = re.compile(r"MemoryMax=(\d+)G")


def wanted(held: int) -> int:
    """In GiB: what changes while the file is rewritten is there twice; and buffers."""
    return 2 * held + 1


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def test_the_unit_may_take_what_the_settings_need() -> None:
    (held,) = re.findall(r"^maxmemory (\d+)gb$", read(ROOT / "infra" / "redis.conf"), re.MULTILINE)
    assert said(UNIT, "MemoryMax") == [f"{wanted(int(held))}G"]


def test_a_rewrite_is_ended_before_redis_is() -> None:
    assert re.search("^oom-score-adj yes$", read(ROOT / "infra" / "redis.conf"), re.MULTILINE)
    assert said(UNIT, "OOMPolicy") == ["continue"], "systemd would stop Redis with its rewrite"


def test_the_runbook_raises_both_the_unit_first() -> None:
    _, _, section = read(ROOT / "docs" / "runbook.md").partition("### GatepostRedisFull\n")
    section, _, _ = section.partition("\n### ")
    (taken,), held = _TAKEN.findall(section), _HELD.findall(section)
    assert held
    assert {wanted(int(one)) for one in held} == {int(taken)}
    assert section.index("MemoryMax=") < section.index("SET maxmemory")


def test_no_page_names_one_without_the_other() -> None:
    """But for what says the value that we ship."""
    (shipped,) = _HELD.findall(read(ROOT / "infra" / "redis.conf"))
    for page in (ROOT / "docs").glob("*.md"):
        text = read(page)
        others = set(_HELD.findall(text)) - {shipped}
        assert not others or _TAKEN.search(text), page
