"""Explains problems to those who are answered them: when one comes, what to do, whether the request
may be repeated.

Each kind of gatepost.problem has its explanation in problems.toml, and there are no others. The
`type` of a problem is a name and leads nowhere by itself (ADR 0053): `gatepost problem` and the
page of that name explain it.
"""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from gatepost.problem import INTERNAL, KINDS, TYPE_BASE, Kind

_FILE = Path(__file__).with_name("problems.toml")


class Repeat(StrEnum):
    """The answers to whether the very same request may be sent again."""

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
        """Return the explanation as a document, for scripts."""
        said = {"title": self.kind.title, "when": self.when, "do": self.do}
        return {"type": self.type, "status": self.kind.status, **said, "repeat": self.repeat}


@cache
def explanations() -> dict[str, Explanation]:
    """Return all explanations by slug, in the order of the statuses."""
    written = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    kinds = sorted([*KINDS.values(), INTERNAL], key=lambda kind: (kind.status, kind.slug))
    return {kind.slug: _explanation(kind, written[kind.slug]) for kind in kinds}


def _explanation(kind: Kind, said: dict[str, str]) -> Explanation:
    return Explanation(kind, said["when"], said["do"], Repeat(said["repeat"]))


def explain(name: str) -> Explanation | None:
    """Return the explanation of a slug or a whole `type`; None if there is none."""
    return explanations().get(name.removeprefix(TYPE_BASE))
