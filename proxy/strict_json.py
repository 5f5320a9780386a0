"""JSON as the boundary takes it: one reading of a document, or a refusal.

Duplicate keys, NaN, lone surrogates and deep nesting are where two readers of one document come to
differ; each is refused with its reason. The standard library's parser with a hook for pairs is as
fast as the ones that let duplicates pass.
"""

import json
import re
from typing import Any, NoReturn

from gatepost.errors import Malformed

MAX_DEPTH = 16

# A string that has no end takes all that follows: to look for its end from each of its quotes again
# would cost the square of its length.
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


def parse(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"The body is not UTF-8, at byte {error.start}.") from None
    if text.startswith("\ufeff"):
        raise Malformed("The body begins with a byte order mark; send it without.")
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise Malformed(f"The document is nested deeper than {MAX_DEPTH} levels.")
    try:
        document = _decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Malformed(f"The body is not JSON: {error.msg}, at {place}.") from None
    except ValueError:  # an integer with more digits than Python converts
        raise Malformed("A number in the document is too long.") from None
    if "\\u" in text:
        _refuse_surrogates(document)
    return document


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise Malformed("A name stands twice in the same object.")
    return document


def _constant(_name: str) -> NoReturn:
    raise Malformed("NaN and Infinity are not JSON.")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _NESTING.finditer(text):
        if token[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "]}":
            depth -= 1
    return deepest


def _refuse_surrogates(value: Any) -> None:
    """Escapes can spell half of a pair, which no UTF-8 can carry on."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise Malformed("A string holds half of a surrogate pair.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            _refuse_surrogates(name)
            _refuse_surrogates(inner)
    elif isinstance(value, list):
        for inner in value:
            _refuse_surrogates(inner)
