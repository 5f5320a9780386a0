"""Holds an answer of the running stack against what the documents tell of it."""

import json
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator, FormatChecker

from infra.dev.paths import ROOT
from infra.site.api import FOLDER, INTERFACES
from infra.site.openapi.calls import Call
from infra.site.openapi.document import problems_of

OF_HTTP = {"content-length", "content-type", "date", "transfer-encoding"}
"""Headers that need not be told."""
DOCUMENTS = {(c.method, c.path): one.name for one in INTERFACES for c in one.calls}


@cache
def document_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def check_told(answer: httpx.Response, call: Call) -> None:
    """Its status, headers, media type and body are as they are told."""
    document = document_of(DOCUMENTS[call.method, call.path])
    responses = document["paths"][call.path][call.method.lower()]["responses"]
    assert str(answer.status_code) in responses, f"{call.path}: {answer.status_code} isn't told"
    told = _followed(responses[str(answer.status_code)], document)
    _check_headers(answer, told["headers"], document)
    if "content" not in told:
        assert answer.content == b""
        return
    media_type, _, _ = answer.headers["content-type"].partition(";")
    assert media_type in told["content"]
    if media_type.endswith("json"):
        whole = {**told["content"][media_type]["schema"], "components": document["components"]}
        Draft202012Validator(whole, format_checker=FormatChecker()).validate(answer.json())
    if media_type == "application/problem+json":
        _check_problem(answer, call)


def _followed(told: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in told:
        return told
    for part in told["$ref"].removeprefix("#/").split("/"):
        document = document[part]
    return document


def _check_headers(answer: httpx.Response, told: Any, document: dict[str, Any]) -> None:
    known = {name.lower(): _followed(one, document) for name, one in told.items()}
    assert set(answer.headers) - OF_HTTP <= set(known), answer.headers
    for name, one in known.items():
        assert name in answer.headers or not one.get("required"), name
        if name in answer.headers:
            text = answer.headers[name]
            value = int(text) if one["schema"]["type"] == "integer" else text
            Draft202012Validator(one["schema"]).validate(value)


def _check_problem(answer: httpx.Response, call: Call) -> None:
    types = [one.type for one in problems_of(call).get(answer.status_code, ())]
    assert answer.json()["type"] in types, f"{call.path}: {answer.text} isn't told"
