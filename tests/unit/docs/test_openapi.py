"""The documents are good for whoever makes a client of them: valid, named, with their words."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import validate

from infra.dev.paths import ROOT
from infra.site.api import FOLDER, INTERFACES
from infra.site.openapi.document import NDJSON
from main_server.api.portal.messages import Status
from main_server.store.tables import STATUSES

NAMES = [one.name for one in INTERFACES]
every_document = pytest.mark.parametrize("name", NAMES)


def document_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            yield path, operation


def contents(value: Any) -> Iterator[dict[str, Any]]:
    """What is sent or answered, wherever it is told."""
    if isinstance(value, dict):
        if isinstance(value.get("content"), dict):
            yield from value["content"].values()
        for inner in value.values():
            yield from contents(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from contents(inner)


def schema_of(name: str, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = document_of(name)["components"]["schemas"][kind]
    return found


@every_document
def test_it_is_valid(name: str) -> None:
    """Defaults are of their schemas, parameters are told, references lead somewhere."""
    validate(document_of(name))


@every_document
def test_each_operation_has_a_name_that_programs_can_use(name: str) -> None:
    ids = [operation["operationId"] for _, operation in operations(document_of(name))]
    assert len(ids) == len(set(ids))
    assert [one for one in ids if not re.fullmatch("[a-z][A-Za-z0-9]*", one)] == []


@every_document
def test_what_is_in_a_path_is_told_by_its_name(name: str) -> None:
    for path, operation in operations(document_of(name)):
        told = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"]
        assert re.findall(r"{(\w+)}", path) == told


@every_document
def test_all_that_is_sent_and_answered_has_a_schema(name: str) -> None:
    found = list(contents(document_of(name)))
    assert found
    assert all(one["schema"] for one in found)


@every_document
def test_each_answer_names_its_request(name: str) -> None:
    document = document_of(name)
    for _, operation in operations(document):
        for answer in operation["responses"].values():
            _, _, shared = answer.get("$ref", "").rpartition("/")
            told = document["components"]["responses"][shared] if shared else answer
            assert "X-Request-Id" in told["headers"]


@every_document
def test_examples_are_valid(name: str) -> None:
    document = document_of(name)
    for one in contents(document):
        if "example" in one:
            whole = {**one["schema"], "components": document["components"]}
            Draft202012Validator(whole, format_checker=FormatChecker()).validate(one["example"])


@every_document
def test_what_is_answered_has_no_defaults(name: str) -> None:
    """What has one in our own class is sent all the same; clients would take it for left out."""
    document = document_of(name)
    asked = json.dumps([one.get("requestBody") for _, one in operations(document)])
    for kind, schema in document["components"]["schemas"].items():
        if f'schemas/{kind}"' not in asked:
            fields = schema["properties"].values()
            assert not any("default" in one for one in fields), kind


def test_a_line_of_ndjson_is_an_item_of_a_batch() -> None:
    batch = document_of("proxy")["paths"]["/api/v1/messages/batch"]["post"]
    content = batch["requestBody"]["content"]
    assert content[NDJSON]["schema"]["type"] == "string"
    assert content[NDJSON]["x-item-schema"] == content["application/json"]["schema"]["items"]
    lines = [json.loads(line) for line in content[NDJSON]["example"].splitlines()]
    assert lines == content["application/json"]["example"]


def test_words_are_listed() -> None:
    assert set(schema_of("proxy", "MessageStatus")["properties"]["status"]["enum"]) == {
        *STATUSES,
        "unknown",
    }
    taken = schema_of("proxy", "Accepted")["properties"]
    assert set(taken["durability"]["enum"]) == {"full", "queue", "ledger"}
    kinds = schema_of("proxy", "Problem")["properties"]["type"]["enum"]
    assert "urn:gatepost:problem:rate-limited" in kinds
    certificate = schema_of("admin", "Certificate")["properties"]
    assert "expired" in certificate["status"]["enum"]
    assert {"enum": ["client", "server"], "type": "string"} in certificate["usage"]["anyOf"]


def test_the_words_for_where_a_message_is_are_the_ledgers() -> None:
    assert [str(one) for one in Status] == list(STATUSES)
