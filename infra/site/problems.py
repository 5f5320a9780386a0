"""Writes a page for each problem, and one that lists them, from gatepost/problems.toml."""

import json
from collections.abc import Mapping
from textwrap import fill

from gatepost.errors import FieldError, GatepostError, MethodNotAllowed
from gatepost.explaining import Explanation, explanations
from gatepost.problem import INTERNAL, KINDS, describe

FOLDER = "docs/problems"
_WIDTH = 120
_REQUEST = "0b1c6a0e-7f0e-4a51-9d3c-2f4f1c1c9f11"
_HEAD = """\
# Problems

What isn't done is answered with a problem: `application/problem+json`, as
[RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) has it. `type` is stable, and what a program
should look at; `title` and `detail` are for people and may change. Nothing that was sent is ever
repeated in one, only the places that are wrong.

A `type` is a name, `urn:gatepost:problem:` and the last part, and leads to a page here under that
part; `gatepost problem TYPE` tells the same on any machine that has the command
([why a name](../decisions/0053-problem-types-are-names.md)).

| field | |
|---|---|
| `type`, `title`, `status`, `detail` | which problem it is, and words |
| `errors` | each place that is wrong, as a JSON pointer, and what must stand there |
| `retry_after` | seconds, with what is refused for now; as the header `Retry-After` |
| `request_id` | finds the request in the logs; as the header `X-Request-Id` |

| status | type | title | send it again? |
|---|---|---|---|
"""


def pages() -> Mapping[str, str]:
    found = {f"{FOLDER}/{slug}.md": _page(one) for slug, one in explanations().items()}
    return {f"{FOLDER}/README.md": _list(), **found}


def _list() -> str:
    return _HEAD + "".join(
        f"| {one.kind.status} | [{slug}]({slug}.md) | {one.kind.title} | {one.repeat.words} |\n"
        for slug, one in explanations().items()
    )


def _page(one: Explanation) -> str:
    example = json.dumps(_example(one), indent=2)
    parts = [
        f"# {one.kind.title}",
        f"`{one.type}`, status {one.kind.status}. [All problems](README.md)",
        "## When it comes",
        one.when,
        "## What to do",
        one.do,
        "## Send it again?",
        one.repeat.words,
        "## What it looks like",
        f"```json\n{example}\n```",
    ]
    return "\n\n".join(part if part[0] in "#`" else _lines(part) for part in parts) + "\n"


def _lines(text: str) -> str:
    return fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _example(one: Explanation) -> dict[str, object]:
    """Return an example of the problem, as gatepost.problem writes it."""
    if one.kind is INTERNAL:
        return describe(Exception(), _REQUEST).document
    (cls,) = (cls for cls, kind in KINDS.items() if kind is one.kind)
    return describe(_error(cls), _REQUEST).document


def _error(cls: type[GatepostError]) -> Exception:
    if cls is MethodNotAllowed:
        return MethodNotAllowed("POST")
    if one_place := _PLACES.get(KINDS[cls].slug):
        return cls(errors=[one_place])
    return cls()


_PLACES = {"invalid": FieldError("/message_body", "must not be blank")}
