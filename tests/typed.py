"""What operators are told to type, by the pages for them and by alerts, and how tests type it.

Each line that is printed is in the table beside this, and is typed in a checkout, or on the machine
of a drill, or in both; else the table says why not.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.dev.paths import ROOT
from tests.rules import read_alerts

PAGES = (
    *("operating", "runbook", "backup", "disaster", "keys", "certificates", "retention"),
    *("doctor", "install", "running", "pipeline", "scaling"),
)
ASKED = "Nothing was done: --yes does it"
_FENCE = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"^ {4,}((?:gatepost|systemctl|journalctl|systemd-cgtop|redis-cli|mariadb|curl|apt-get|python3"
    r"|cd|cp|df|ls|top|install|export|unset|timedatectl|\(umask) ?.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """`here` and `there` say whether it is typed in a checkout and on a machine, or why not."""

    typed: str
    here: bool | str
    there: bool | str
    exits: tuple[int, ...] = (0,)
    asks: bool = False
    stands_for: Mapping[str, str] = field(default_factory=dict)

    def filled(self, meant: Callable[[str], str]) -> str:
        """As the reader types it: with something of theirs where it stands for something."""
        line = self.typed
        for words, name in self.stands_for.items():
            line = line.replace(words, meant(name))
        return line

    def type_with(
        self, type_: Callable[[str], tuple[int, str]], meant: Callable[[str], str]
    ) -> str:
        """Types it by `type_`, which returns the exit code and all that was said; returns that."""
        line = self.filled(meant)
        if self.asks:
            code, said = type_(line)
            assert (code, ASKED in said) == (2, True), f"{line}: {code} {said}"
            line = f"{line} --yes"
        code, said = type_(line)
        assert code in self.exits, f"{line}: {code} {said}"
        return said


def read_lines() -> list[Line]:
    """The table."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [Line(**{**one, "exits": tuple(one.get("exits", (0,)))}) for one in _tables(text)]


def printed_lines() -> list[str]:
    """Each once, in the order of the pages."""
    found = []
    for name in PAGES:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        found += [line.strip() for line in _COMMAND.findall(_FENCE.sub("", text))]
    return list(dict.fromkeys([*found, *(alert.command for alert in read_alerts())]))


def _tables(text: str) -> Iterator[dict[str, Any]]:
    yield from tomllib.loads(text)["line"]
