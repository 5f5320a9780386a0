"""Writes the API reference for readers (docs/api.md) and for programs (docs/openapi/), both from
the same documents."""

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

from infra.site.openapi import admin, pki, proxy
from infra.site.openapi.calls import Call, Interface
from infra.site.openapi.document import JSON, describe, problems_of
from main_server.process import create_app
from proxy.endpoints import create_reading_api

PAGE, FOLDER = "docs/api.md", "docs/openapi"
INTERFACES = (proxy.INTERFACE, admin.INTERFACE, pki.INTERFACE)
_HEAD = """\
# API reference

Each interface is an OpenAPI 3.1 document as well: [for partners](openapi/proxy.json),
[for administrators' programs](openapi/admin.json), [of the PKI port](openapi/pki.json). Times are
ISO 8601, UTC, with milliseconds. Unknown fields of a request are refused; answers may come to have
more fields, so pass over those that you don't know. What isn't done is answered with
[a problem](problems/README.md). `X-Request-Id` and `traceparent` are taken up if they are sent, and
`X-Request-Id` is in each answer. [A partner's afternoon](partners.md) shows the calls in use.
"""


def applications() -> dict[str, Mapping[str, Any]]:
    """Return what FastAPI says of its own routes. Making an application opens nothing."""
    return {
        "proxy": create_reading_api(None).openapi(),  # type: ignore[arg-type]
        "admin": create_app(None).api.openapi(),  # type: ignore[arg-type]
        "pki": {},
    }


def pages() -> Mapping[str, str]:
    known = applications()
    documents = {one.name: describe(one, known[one.name]) for one in INTERFACES}
    texts = {
        f"{FOLDER}/{name}.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        for name, document in documents.items()
    }
    parts = [line for one in INTERFACES for line in _interface(one, documents[one.name])]
    return {PAGE: "\n".join([_HEAD, *parts]) + "\n", **texts}


def _interface(interface: Interface, document: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {interface.title}\n\n{interface.words}\n"
    yield "| | |\n|---|---|"
    for call in interface.calls:
        yield f"| `{call.method} {call.path}` | [{call.summary}](#{_anchor(call.summary)}) |"
    yield ""
    first, *others = interface.calls
    anywhere = set(first.problems).intersection(*(call.problems for call in others))
    shared = _refusals(replace(first, problems=tuple(anywhere)))
    yield f"Any of these may be refused with: {shared}.\n"
    for call in interface.calls:
        yield from _call(call, document, anywhere)
    schemas = document["components"]["schemas"]
    yield f"### Documents: {interface.title.lower()}\n"
    for name, schema in schemas.items():
        if name != "Problem" and schema.get("type") == "object":
            yield from _schema(name, schema)


def _call(call: Call, document: Mapping[str, Any], anywhere: Set[str]) -> Iterator[str]:
    told = document["paths"][call.path][call.method.lower()]
    yield f"### {call.summary}\n\n`{call.method} {call.path}`\n"
    if call.words:
        yield f"{call.words}\n"
    if given := told.get("parameters"):
        yield "| parameter | in | values | |\n|---|---|---|---|"
        for one in given:
            values = _kind(one["schema"])
            yield f"| `{one['name']}` | {one['in']} | {values} | {one.get('description', '')} |"
        yield ""
    if body := told.get("requestBody"):
        yield from _body("Sent", body["content"])
    yield from _body(f"Answered with {call.status}", told["responses"][str(call.status)])
    if call.answered:
        yield "| header of the answer | |\n|---|---|"
        yield from (f"| `{name}` | {words} |" for name, words in call.answered.items())
        yield ""
    own = [slug for slug in call.problems if slug not in anywhere]
    if own:
        yield f"Refused with: {_refusals(replace(call, problems=tuple(own)))}.\n"


def _refusals(call: Call) -> str:
    return "; ".join(
        f"{status} " + ", ".join(f"[{one.kind.slug}](problems/{one.kind.slug}.md)" for one in kinds)
        for status, kinds in problems_of(call).items()
    )


def _body(head: str, said: Mapping[str, Any]) -> Iterator[str]:
    content = said.get("content", said if JSON in said else {})
    if not content:
        content = {name: one for name, one in said.items() if "/" in name}
    if not content:
        yield f"**{head}**, without a body.\n"
        return
    names = ", ".join(f"`{name}`" for name in content)
    schema = content.get(JSON, {}).get("schema")
    yield f"**{head}**, {names}" + (f": {_kind(schema)}.\n" if schema else ".\n")
    if "example" in content.get(JSON, {}):
        example = json.dumps(content[JSON]["example"], indent=2, ensure_ascii=False)
        yield f"```json\n{example}\n```\n"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"#### {name}\n"
    if words := schema.get("description"):
        yield f"{' '.join(words.split())}\n"
    yield "| field | values | |\n|---|---|---|"
    required = schema.get("required", ())
    for field, told in schema.get("properties", {}).items():
        needed = "" if field in required else "may be left out; "
        words = (needed + told.get("description", "")).removesuffix("; ")
        yield f"| `{field}` | {_kind(told)} | {words} |"
    yield ""


def _kind(schema: Mapping[str, Any]) -> str:
    """Say in a few words what a value may be."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return (
            "[Problem](problems/README.md)" if name == "Problem" else f"[{name}](#{name.lower()})"
        )
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return f"names and values, {_kind(schema['additionalProperties'])}"
    return _bounded(schema)


def _bounded(schema: Mapping[str, Any]) -> str:
    words = str(schema.get("type", "anything"))
    if "maxLength" in schema:
        words += f", {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    if "minimum" in schema and "maximum" in schema:
        words += f", {schema['minimum']} to {schema['maximum']}"
    if "pattern" in schema:
        words += f", `{schema['pattern']}`"
    return words


def _anchor(heading: str) -> str:
    """Return a heading's anchor as Git hosts and MyST make it."""
    return "".join(c for c in heading.lower() if c.isalnum() or c in " -_").replace(" ", "-")
