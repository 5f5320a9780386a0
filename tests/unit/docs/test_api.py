"""The API reference says what the applications say, and its examples are of their own kind."""

import ast
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gatepost.explaining import explanations
from gatepost.problem import KINDS
from infra.dev.paths import ROOT
from infra.site.api import FOLDER, INTERFACES, applications
from infra.site.openapi import proxy
from infra.site.openapi.calls import Call, Interface
from infra.site.openapi.document import problems_of
from main_server.api import pki
from main_server.process import create_app
from proxy.admission import admit
from proxy.batch import MAX_BATCH_BYTES, MAX_ITEMS
from proxy.endpoints import MAX_BODY_BYTES, POSTS
from proxy.settings import Validation
from tests.factories import identity

CALLS = [(one, call) for one in INTERFACES for call in one.calls]
every_call = pytest.mark.parametrize(
    ("interface", "call"), CALLS, ids=[f"{call.method} {call.path}" for _, call in CALLS]
)


def routes(application: dict[str, Any], begin: str) -> set[tuple[str, str]]:
    return {
        (method.upper(), path)
        for path, operations in application["paths"].items()
        for method in operations
        if path.startswith(begin)
    }


def told(interface: Interface) -> set[tuple[str, str]]:
    return {(call.method, call.path) for call in interface.calls}


def test_what_partners_can_call_is_told_and_no_more() -> None:
    found = routes(dict(applications()["proxy"]), "/") | {("POST", path) for path in POSTS}
    assert told(proxy.INTERFACE) == found


def test_what_administrators_can_call_is_told_and_no_more() -> None:
    (admin,) = [one for one in INTERFACES if one.name == "admin"]
    found = routes(create_app(None).api.openapi(), "/admin")  # type: ignore[arg-type]
    assert told(admin) == found


def test_what_the_pki_port_answers_is_told() -> None:
    """Its module says what it serves: it has no routes that could be asked."""
    (port,) = [one for one in INTERFACES if one.name == "pki"]
    said = (pki.__doc__ or "").replace("<kid>", "{kid}").replace("<base64>", "{request}")
    for _, path in told(port):
        assert path in said
    assert len(told(port)) == len([word for word in said.split() if word.startswith("/")])


def test_what_the_proxy_refuses_with_is_told() -> None:
    """The errors that its modules name."""
    trees = [ast.parse(file.read_text("utf-8")) for file in (ROOT / "proxy").glob("*.py")]
    named = {
        alias.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "gatepost.errors"
        for alias in node.names
    }
    found = {kind.slug for error, kind in KINDS.items() if error.__name__ in named}
    assert len(found) > 10
    assert found - {slug for call in proxy.INTERFACE.calls for slug in call.problems} == set()


@every_call
def test_its_problems_are_known_ones(interface: Interface, call: Call) -> None:
    assert set(call.problems) <= set(explanations())
    assert problems_of(call)


@every_call
def test_examples_are_of_their_kind(interface: Interface, call: Call) -> None:
    for kind, example in (
        (call.request, call.request_example),
        (call.answer, call.answer_example),
    ):
        if example is not None:
            assert holds(msgspec.to_builtins(msgspec.convert(example, kind)), example)


def holds(whole: Any, part: Any) -> bool:
    """Whether nothing of `part` is missing."""
    if isinstance(part, dict):
        return all(name in whole and holds(whole[name], inner) for name, inner in part.items())
    if isinstance(part, list):
        return all(holds(*pair) for pair in zip(whole, part, strict=True))
    return bool(whole == part)


def test_what_is_said_of_messages_is_what_is_admitted() -> None:
    rules = Validation()
    schema = msgspec.json.schema(proxy.Submission)["$defs"]["Submission"]["properties"]
    assert schema["message_body"]["maxLength"] == rules.max_body_length
    (post, batch) = (call for call in proxy.INTERFACE.calls if call.path in POSTS)
    assert admit(json.dumps(post.request_example).encode(), identity(), rules)
    assert f"{MAX_BODY_BYTES // 1024} KiB" in post.words
    assert f"{MAX_ITEMS:,}" in batch.words
    assert f"{MAX_BATCH_BYTES // 1024**2} MiB" in batch.words


@pytest.mark.parametrize("name", [one.name for one in INTERFACES])
def test_each_reference_within_a_document_leads_somewhere(name: str) -> None:
    document = json.loads((ROOT / FOLDER / f"{name}.json").read_text())
    wanted = list(references(document))
    assert wanted
    for one in wanted:
        place = document
        for part in one.removeprefix("#/").split("/"):
            assert part in place, one
            place = place[part]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)
