"""Writes docs/privacy.md: what is kept where, in which form, who can open it, for how long.

The declaration is privacy.toml. What is in it is compared with what there is: columns, keys, fields
and labels (tests/unit/docs/test_privacy.py, tests/acceptance/docs/test_privacy.py).
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

PAGE = "docs/privacy.md"
_HEAD = """\
# Privacy

What is kept where, in which form, who can open it, and for how long. This page is written by
`./dev docs --write` from a declaration that is compared with what there is: a new column, key of
Redis, column of the lake, field of the log or label of a metric that it doesn't name fails a test.

A message's body and the number it was sent under are what has to be guarded. They can be read in
the memory of the proxy that takes them in, and of the main server that stores them or opens them
for a person, and nowhere else: `tests/acceptance/two_stores/test_canary.py` looks for them.

## Where and how

| | {places} |
|---|{lines}|
"""
_RIGHTS = """\
## What people may ask for

| | |
|---|---|
| what is there of a number | `gatepost subject report`; another one's `gatepost subject approve` |
| that it goes | [retention](retention.md); sooner `gatepost keys destroy`, of a client's day |
| that it stays | `gatepost retention hold`: a legal hold, by client or domain |
| who has looked | the audit log, which has each opening and each list that somebody saw |

To erase is to destroy a key: no copy in a backup, a replica or an archive opens from then on
([keys](keys.md)), and that is refused while a legal hold is on the client or its domain. Of a
number alone nothing can be erased, since a key is one client's day.
"""


@cache
def declaration() -> Mapping[str, Any]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def form_of(kind: str, place: str) -> str:
    return str(declaration()["places"][place]["forms"].get(kind, "absent"))


def pages() -> Mapping[str, str]:
    said = declaration()
    places = [name.replace("redis", "Redis") for name in said["places"]]
    head = _HEAD.format(places=" | ".join(places), lines="|".join(["---"] * len(places)))
    sections = [_matrix, _forms, _places, _ledger, _redis, _travelling]
    return {PAGE: head + "\n".join(line for one in sections for line in one(said)) + "\n" + _RIGHTS}


def _matrix(said: Mapping[str, Any]) -> Iterator[str]:
    for kind in said["kinds"]:
        forms = (form_of(kind, place) for place in said["places"])
        cells = " | ".join("–" if form == "absent" else form for form in forms)
        yield f"| {kind.replace('_', ' ')} | {cells} |"


def _forms(said: Mapping[str, Any]) -> Iterator[str]:
    yield "\n| what | |\n|---|---|"
    for kind, words in said["kinds"].items():
        yield f"| {kind.replace('_', ' ')} | {words} |"
    yield "\n| form | |\n|---|---|"
    for name, words in said["forms"].items():
        yield f"| {'–' if name == 'absent' else name} | {words} |"


def _places(said: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Who can open it, and for how long\n\n| place | who | how long |\n|---|---|---|"
    for place in said["places"].values():
        yield f"| {place['title']} | {place['who']} | {place['how_long']} |"
    yield ""
    for place in said["places"].values():
        if "note" in place:
            yield f"*{place['title']}.* {place['note']}\n"


def _ledger(said: Mapping[str, Any]) -> Iterator[str]:
    yield "## The ledger, column by column\n\n| table | kept | what is in it |\n|---|---|---|"
    for table, told in said["ledger"].items():
        columns = {kind: names for kind, names in told.items() if kind != "keep"}
        yield f"| {table} | {told['keep']} | {_kinds(columns)} |"


def _redis(said: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Redis, key by key\n\n| key | kept | what is in it |\n|---|---|---|"
    for key, told in said["redis"].items():
        yield f"| {key} | {told['keep']} | {', '.join(told['holds']).replace('_', ' ')} |"


def _travelling(said: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## What travels, and what the lake has\n\n| | what is in it |\n|---|---|"
    for title, name in (
        ("an envelope, on the wire and in Redis", "envelope"),
        ("the bundle, at the edge", "bundle"),
        ("the lake", "lake"),
        ("an event of the log", "log"),
        ("labels of metrics", "labels"),
        ("a span of a trace", "spans"),
    ):
        yield f"| {title} | {_kinds(said[name])} |"
    yield ""


def _kinds(columns: Mapping[str, list[str]]) -> str:
    parts = (f"*{kind.replace('_', ' ')}*: {', '.join(names)}" for kind, names in columns.items())
    return "; ".join(parts).replace("_", "\\_")
