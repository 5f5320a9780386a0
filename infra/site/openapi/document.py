"""Describes an interface as an OpenAPI 3.1 document.

Parameters are taken from the application, where FastAPI knows them; problems are the statuses that
they have, with their types as a list.
"""

import json
from collections.abc import Mapping
from typing import Any

from gatepost import __version__
from gatepost.errors import RetryableError
from gatepost.explaining import Explanation, explanations
from gatepost.problem import KINDS
from infra.site.openapi.calls import Call, Interface
from infra.site.openapi.parameters import parameters_of
from infra.site.openapi.proxy import Problem
from infra.site.openapi.schemas import Schemas, Words

JSON, PROBLEM, NDJSON = "application/json", "application/problem+json", "application/x-ndjson"
PEM = "application/x-pem-file"
_HEADER = "#/components/headers/{name}"
_SOMETIMES = "Idempotency-Replayed"
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {
        "description": "Finds this call in the gateway's logs; as it was sent, or a new one.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "Retry-After": {
        "description": "In how many seconds to try again.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Allow": {
        "description": "The methods that there are.",
        "required": True,
        "schema": {"type": "string"},
    },
}
"""The headers that may be in any answer. X-Request-Id is in each of them."""
_REPEATABLE = [kind for error, kind in KINDS.items() if issubclass(error, RetryableError)]


def describe(interface: Interface, application: Mapping[str, Any]) -> dict[str, Any]:
    """Return the interface's document; `application` is what FastAPI says of its own routes."""
    known = application.get("paths", {})
    schemas = _schemas(interface)
    paths: dict[str, dict[str, Any]] = {}
    for call in interface.calls:
        told = known.get(call.path, {}).get(call.method.lower(), {})
        parameters = list(parameters_of(call, told, application))
        operation = _operation(call, schemas, parameters, _told(interface.anywhere, needed=False))
        paths.setdefault(call.path, {})[call.method.lower()] = operation
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": interface.title,
            "version": __version__,
            "description": interface.words,
        },
        "servers": [{"url": interface.server}],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": _refusals(interface, schemas),
            "headers": HEADERS,
        },
    }
    if interface.mutual_tls:
        document["components"]["securitySchemes"] = {"certificate": {"type": "mutualTLS"}}
        document["security"] = [{"certificate": []}]
    return document


def _schemas(interface: Interface) -> Schemas:
    """Return the schemas of an interface's types, but not of what its media type alone names."""

    def types(*wanted: Any) -> list[Any]:
        return [one for one in wanted if one and not isinstance(one, str)]

    calls = interface.calls
    answers = [*types(*(call.answer for call in calls)), Problem]
    orders = types(*(one for call in calls for one in (call.request, call.line)))
    refused = {slug for call in calls for slug in call.problems}
    slugs = [one.type for slug, one in explanations().items() if slug in refused]
    words: Words = {**interface.words_of, "Problem": {"type": slugs}}
    return Schemas([*orders, *answers], answers, words)


def _operation(
    call: Call, schemas: Schemas, parameters: list[Any], anywhere: dict[str, Any]
) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": call.operation_id, "summary": call.summary}
    if call.words:
        operation["description"] = call.words
    if parameters:
        operation["parameters"] = parameters
    if call.request:
        content = _content(call.request, call.request_example, schemas)
        if call.line:
            content[NDJSON] = _lines(call, schemas)
        operation["requestBody"] = {"required": True, "content": content}
    done: dict[str, Any] = {"description": "Done."}
    if call.answer:
        done["content"] = _content(call.answer, call.answer_example, schemas)
    done["headers"] = _shared("X-Request-Id") | anywhere | _told(call.answered, needed=True)
    refused = {
        str(status): {"$ref": f"#/components/responses/{_name(status, kinds)}"}
        for status, kinds in problems_of(call).items()
    }
    operation["responses"] = {str(call.status): done, **refused}
    return operation


def _content(kind: Any, example: Any, schemas: Schemas) -> dict[str, Any]:
    if isinstance(kind, str):
        return {kind: {"schema": {"type": "string"} | ({} if kind == PEM else _BYTES)}}
    told: dict[str, Any] = {"schema": schemas.of(kind)}
    if example is not None:
        told["example"] = example
    return {JSON: told}


_BYTES = {"format": "binary"}


def _lines(call: Call, schemas: Schemas) -> dict[str, Any]:
    """Return the content of NDJSON. OpenAPI 3.1 has no word for what a line is (3.2 has:
    itemSchema), so tools see a text."""
    lines = [json.dumps(one, ensure_ascii=False) for one in call.request_example]
    return {
        "schema": {"type": "string", "description": "A JSON document on each line."},
        "x-item-schema": schemas.of(call.line),
        "example": "".join(f"{line}\n" for line in lines),
    }


def _told(headers: Mapping[str, str], *, needed: bool) -> dict[str, Any]:
    return {
        name: {
            "description": words,
            "required": needed and name != _SOMETIMES,
            "schema": {"type": "string"},
        }
        for name, words in headers.items()
    }


def _shared(name: str) -> dict[str, Any]:
    return {name: {"$ref": _HEADER.format(name=name)}}


def problems_of(call: Call) -> dict[int, list[Explanation]]:
    """Return the call's problems by status, in the order in which they are explained."""
    found: dict[int, list[Explanation]] = {}
    for slug, one in explanations().items():
        if slug in call.problems:
            found.setdefault(one.kind.status, []).append(one)
    return found


def _refusals(interface: Interface, schemas: Schemas) -> dict[str, Any]:
    """Return each refusal once, whatever number of calls is refused so."""
    kinds = [item for call in interface.calls for item in problems_of(call).items()]
    anywhere = _told(interface.anywhere, needed=False)
    return {_name(status, found): _refusal(found, schemas, anywhere) for status, found in kinds}


def _name(status: int, kinds: list[Explanation]) -> str:
    return "-".join([str(status), *(one.kind.slug for one in kinds)])


def _refusal(
    kinds: list[Explanation], schemas: Schemas, anywhere: dict[str, Any]
) -> dict[str, Any]:
    types = ", ".join(f"`{one.type}`" for one in kinds)
    told: dict[str, Any] = {
        "description": f"{' · '.join(one.kind.title for one in kinds)}. Its type: {types}.",
        "content": {PROBLEM: {"schema": schemas.of(Problem)}},
    }
    told["headers"] = _shared("X-Request-Id") | anywhere
    repeatable = [one.kind in _REPEATABLE for one in kinds]
    if all(repeatable):
        told["headers"] |= _shared("Retry-After")
    elif any(repeatable):
        told["headers"]["Retry-After"] = HEADERS["Retry-After"] | {"required": False}
    if any(one.kind.status == 405 for one in kinds):
        told["headers"] |= _shared("Allow")
    return told
