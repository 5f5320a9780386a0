"""What a problem means for who is answered it: when it comes, what to do, may it be repeated.

Each kind of gatepost.problem has its explanation in problems.toml, and none is there that has no
kind. The `type` of a problem is a name and leads nowhere by itself (ADR 0053): `gatepost problem`
and the page of that name do.
"""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from gatepost.problem import INTERNAL, KINDS, TYPE_BASE, Kind

_FILE = Path(__file__).with_name("problems.toml")


class Repeat(StrEnum):
    """Whether the very same may be sent again."""

    NO = "no"
    ONCE_MENDED = "once-mended"
    LATER = "later"
    SAME_KEY = "same-key"

    @property
    def words(self) -> str:
        return _REPEATS[self]


_REPEATS = {
    Repeat.NO: "No: it will be answered the same.",
    Repeat.ONCE_MENDED: "Once it is mended. As it is, it will be answered the same.",
    Repeat.LATER: "Yes, after as many seconds as `Retry-After` says.",
    Repeat.SAME_KEY: "Yes, with the same Idempotency-Key: there will be one message.",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    kind: Kind
    when: str
    do: str
    repeat: Repeat

    @property
    def type(self) -> str:
        return TYPE_BASE + self.kind.slug

    def document(self) -> dict[str, str | int]:
        """For scripts."""
        said = {"title": self.kind.title, "when": self.when, "do": self.do}
        return {"type": self.type, "status": self.kind.status, **said, "repeat": self.repeat}


@cache
def explanations() -> dict[str, Explanation]:
    """By slug, in the order of the statuses."""
    written = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    kinds = sorted([*KINDS.values(), INTERNAL], key=lambda kind: (kind.status, kind.slug))
    return {kind.slug: _explanation(kind, written[kind.slug]) for kind in kinds}


def _explanation(kind: Kind, said: dict[str, str]) -> Explanation:
    return Explanation(kind, said["when"], said["do"], Repeat(said["repeat"]))


def explain(name: str) -> Explanation | None:
    """By the slug or the whole `type`."""
    return explanations().get(name.removeprefix(TYPE_BASE))
