"""An interface as an OpenAPI 3.1 document.

Parameters are taken from the application, where FastAPI knows them; problems are the statuses that
they have, with their types as a list.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gatepost import __version__
from gatepost.explaining import Explanation, Repeat, explanations
from infra.site.openapi.calls import PARAMETERS, Call, Interface
from infra.site.openapi.proxy import Problem

JSON, PROBLEM = "application/json", "application/problem+json"
_SCHEMAS = "#/components/schemas/{name}"


def describe(interface: Interface, application: Mapping[str, Any]) -> dict[str, Any]:
    """`application` is what FastAPI says of its own routes."""
    known = application.get("paths", {})
    schemas = _schemas(interface.calls)
    paths: dict[str, dict[str, Any]] = {}
    for call in interface.calls:
        told = known.get(call.path, {}).get(call.method.lower(), {})
        parameters = [*_parameters(call, told, application), *_headers(call)]
        operation = _operation(call, schemas, parameters)
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
            "responses": _refusals(interface.calls, schemas),
        },
    }
    if interface.mutual_tls:
        document["components"]["securitySchemes"] = {"certificate": {"type": "mutualTLS"}}
        document["security"] = [{"certificate": []}]
    return document


class Schemas:
    """The schemas of all types that an interface speaks of."""

    def __init__(self, types: Iterable[Any]) -> None:
        self._types = list(types)
        found, known = msgspec.json.schema_components(self._types, ref_template=_SCHEMAS)
        self._found = _with_values(list(found), known)
        objects = {name: one for name, one in known.items() if "enum" not in one}
        self.components = _with_values(objects, known)

    def of(self, wanted: Any) -> dict[str, Any]:
        return dict(self._found[self._types.index(wanted)])


def _with_values(told: Any, known: Mapping[str, Any]) -> Any:
    """Where a list of values is referred to, the list itself."""
    if isinstance(told, dict):
        name = str(told.get("$ref", "")).rpartition("/")[2]
        if name and "enum" in known[name]:
            return {"type": "string", "enum": known[name]["enum"]}
        return {key: _with_values(inner, known) for key, inner in told.items()}
    return [_with_values(one, known) for one in told] if isinstance(told, list) else told


def _schemas(calls: Iterable[Call]) -> Schemas:
    wanted = [one for call in calls for one in (call.request, call.answer)]
    return Schemas([*(one for one in wanted if one and not isinstance(one, str)), Problem])


def _operation(call: Call, schemas: Schemas, parameters: list[Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": call.operation_id, "summary": call.summary}
    if call.words:
        operation["description"] = call.words
    if parameters:
        operation["parameters"] = parameters
    if call.request:
        content = _content(call.request, call.request_example, schemas, call.also)
        operation["requestBody"] = {"required": True, "content": content}
    done: dict[str, Any] = {"description": "Done."}
    if call.answer:
        done["content"] = _content(call.answer, call.answer_example, schemas)
    if call.answered:
        done["headers"] = {
            name: {"description": words, "schema": {"type": "string"}}
            for name, words in call.answered.items()
        }
    refused = {
        str(status): {"$ref": f"#/components/responses/{_name(status, kinds)}"}
        for status, kinds in problems_of(call).items()
    }
    operation["responses"] = {str(call.status): done, **refused}
    return operation


def _content(
    kind: Any, example: Any, schemas: Schemas, also: tuple[str, ...] = ()
) -> dict[str, Any]:
    if isinstance(kind, str):
        return {kind: {}}
    told: dict[str, Any] = {"schema": schemas.of(kind)}
    if example is not None:
        told["example"] = example
    return {JSON: told, **{name: {} for name in also}}


def problems_of(call: Call) -> dict[int, list[Explanation]]:
    """By status, in its order."""
    found: dict[int, list[Explanation]] = {}
    for slug, one in explanations().items():
        if slug in call.problems:
            found.setdefault(one.kind.status, []).append(one)
    return found


def _refusals(calls: Iterable[Call], schemas: Schemas) -> dict[str, Any]:
    """Each once, whatever number of calls is refused so."""
    kinds = [item for call in calls for item in problems_of(call).items()]
    return {_name(status, found): _refusal(found, schemas) for status, found in kinds}


def _name(status: int, kinds: list[Explanation]) -> str:
    return "-".join([str(status), *(one.kind.slug for one in kinds)])


def _refusal(kinds: list[Explanation], schemas: Schemas) -> dict[str, Any]:
    types = {"properties": {"type": {"enum": [one.type for one in kinds]}}}
    told: dict[str, Any] = {
        "description": " · ".join(one.kind.title for one in kinds),
        "content": {PROBLEM: {"schema": {"allOf": [schemas.of(Problem), types]}}},
    }
    if any(one.repeat in (Repeat.LATER, Repeat.SAME_KEY) for one in kinds):
        told["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return told


def _parameters(
    call: Call, told: Mapping[str, Any], application: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    names = [part[1:-1] for part in call.path.split("/") if part.startswith("{")]
    found = {one["name"]: one for one in told.get("parameters", ())}
    for name in names:
        words, schema = PARAMETERS.get(name, ""), {"type": "string"}
        known = {"description": words} if words else {}
        yield {"name": name, "in": "path", "required": True, **known, "schema": schema}
    for name, one in found.items():
        if one["in"] == "query":
            schema = _plain(one["schema"], application)
            known = {"description": PARAMETERS[name]}
            yield {"name": name, "in": "query", "required": one["required"], **known} | {
                "schema": schema
            }


def _headers(call: Call) -> Iterator[dict[str, Any]]:
    for name, words in call.headers.items():
        schema = {"type": "string"}
        yield {"name": name, "in": "header", "description": words, "schema": schema}


def _plain(schema: Mapping[str, Any], application: Mapping[str, Any]) -> dict[str, Any]:
    """Without references into the application's own document, and without its titles."""
    if "anyOf" in schema:
        return _plain(next(one for one in schema["anyOf"] if one != {"type": "null"}), application)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _plain(application["components"]["schemas"][name], application)
    return {key: value for key, value in schema.items() if key not in ("title", "description")}
