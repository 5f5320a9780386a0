"""Describes the parameters of a call: its path's, and those that FastAPI or the call knows."""

from collections.abc import Iterator, Mapping
from typing import Any

from infra.site.openapi.calls import FORMS, PARAMETERS, Call


def parameters_of(
    call: Call, told: Mapping[str, Any], application: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    found = {one["name"]: one for one in told.get("parameters", ())}
    for name in call.in_path:
        words, schema = PARAMETERS.get(name, ""), {"type": "string"} | FORMS.get(name, {})
        known = {"description": words} if words else {}
        yield {"name": name, "in": "path", "required": True, **known, "schema": schema}
    for name, one in found.items():
        if one["in"] == "query":
            schema = _plain(one["schema"], application)
            known = {"description": PARAMETERS[name]}
            yield {"name": name, "in": "query", "required": one["required"], **known} | {
                "schema": schema
            }
    yield from _of_headers(call)


def _of_headers(call: Call) -> Iterator[dict[str, Any]]:
    for name, words in call.headers.items():
        schema = {"type": "string"}
        yield {"name": name, "in": "header", "description": words, "schema": schema}


def _plain(schema: Mapping[str, Any], application: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without references into the application's document, and without titles."""
    if "anyOf" in schema:
        return _plain(next(one for one in schema["anyOf"] if one != {"type": "null"}), application)
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _plain(application["components"]["schemas"][name], application)
    said = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return {key: value for key, value in said.items() if key != "default" or value != ""}
