"""The declaration of what is kept where: complete, and in agreement with itself."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

import msgspec
import pytest

from analytics import schema
from gatepost.wire.bundle import Bundle
from gatepost.wire.envelope import Envelope
from infra.dev.paths import ROOT
from infra.site.privacy import declaration, form_of
from main_server.store.tables import metadata

SAID = declaration()
LAKE = {*schema.COLUMNS, *schema.ATTEMPTS, *schema.SENDERS}
FIELDS = {
    "envelope": {one.name for one in msgspec.structs.fields(Envelope)},
    "bundle": {one.name for one in msgspec.structs.fields(Bundle)},
    "lake": LAKE,
}
PLACES = {
    "envelope": "redis",
    "bundle": "edge",
    "lake": "lake",
    "log": "logs",
    "labels": "metrics",
    "spans": "traces",
}

ATTRIBUTE = re.compile(r"(?:gatepost|http|messaging|service)(?:\.[a-z_]+)+")
TOPS = ("gatepost", "proxy", "worker", "main_server", "portal", "analytics")
LEVELS, METRICS = {"debug", "info", "warning", "error"}, {"Counter", "Gauge", "Histogram"}


@cache
def nodes() -> list[ast.AST]:
    """All of the code that is shipped."""
    files = [file for top in TOPS for file in sorted((ROOT / top).rglob("*.py"))]
    return [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]


def calls() -> Iterator[tuple[str, ast.Call]]:
    for node in nodes():
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", "")), node


def logged() -> set[str]:
    """The names that are given to events: where they are written, and to a request's own."""
    found: set[str] = set()
    for name, call in calls():
        event = call.args[0] if call.args else None
        if name in LEVELS and isinstance(event, ast.Constant) and "." in str(event.value):
            found |= {one.arg for one in call.keywords if one.arg}
    for node in nodes():
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if owner == "fields" and isinstance(node.ctx, ast.Store):
                found.add(str(node.slice.value))
    return found


def labels() -> set[str]:
    lists = [
        one
        for name, call in calls()
        if name in METRICS
        for one in (*call.args, *(k.value for k in call.keywords if k.arg == "labelnames"))
        if isinstance(one, ast.List | ast.Tuple)
    ]
    return {str(e.value) for one in lists for e in one.elts if isinstance(e, ast.Constant)}


def attributes() -> set[str]:
    """Names that stand where spans are made, and are written as OpenTelemetry writes them."""
    names = ("tracing.py", "exporting.py")
    files = [file for top in TOPS for name in names for file in (ROOT / top).rglob(name)]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    texts = [n.value for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    return {text for text in texts if isinstance(text, str) and ATTRIBUTE.fullmatch(text)}


@pytest.mark.parametrize(
    ("name", "find"), [("log", logged), ("labels", labels), ("spans", attributes)]
)
def test_what_the_code_says_is_told(name: str, find: Callable[[], set[str]]) -> None:
    told = {one for names in SAID[name].values() for one in names}
    found = find()
    assert found
    assert found - told == set(), "say in infra/site/privacy.toml what it is"


def columns(table: str) -> list[str]:
    return [one for kind, names in SAID["ledger"][table].items() if kind != "keep" for one in names]


def test_each_table_is_told() -> None:
    assert set(SAID["ledger"]) == {table.name for table in metadata.sorted_tables}


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_each_column_is_told_once(table: object) -> None:
    name, found = table.name, [column.name for column in table.columns]  # type: ignore[attr-defined]
    assert sorted(columns(name)) == sorted(found), "say in infra/site/privacy.toml what it is"


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_is_told_once(name: str) -> None:
    told = [one for names in SAID[name].values() for one in names]
    assert sorted(told) == sorted(FIELDS[name])


@pytest.mark.parametrize("name", PLACES)
def test_what_a_place_holds_is_what_is_said_of_it(name: str) -> None:
    absent = [kind for kind in SAID[name] if form_of(kind, PLACES[name]) == "absent"]
    assert absent == []


def test_what_the_stores_hold_is_what_is_said_of_them() -> None:
    ledger = {kind for told in SAID["ledger"].values() for kind in told if kind != "keep"}
    redis = {kind for told in SAID["redis"].values() for kind in told["holds"]}
    for place, found in (("ledger", ledger | {"number"}), ("redis", redis)):
        said = {kind for kind in SAID["kinds"] if form_of(kind, place) != "absent"}
        assert said == found


def test_content_lies_readable_nowhere() -> None:
    for kind in ("body", "number"):
        for place in ("redis", "ledger", "backups"):
            assert form_of(kind, place) == "sealed"
        for place in ("lake", "logs", "metrics", "traces", "support"):
            assert form_of(kind, place) == "absent"


def test_its_words_are_known_ones() -> None:
    for place in SAID["places"].values():
        assert set(place["forms"]) <= set(SAID["kinds"])
        assert set(place["forms"].values()) <= set(SAID["forms"])
