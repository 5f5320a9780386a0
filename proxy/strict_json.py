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


_SPACE = re.compile(r"[ \t\r\n]*")


def parse(body: bytes) -> Any:
    text = _decode(body)
    document, end = _read(text)
    if text[end:].strip(" \t\r\n"):
        raise Malformed(f"The body is not JSON: something follows it, at character {end}.")
    return document


def parse_array(body: bytes, *, most: int, longest: int) -> list[Any] | None:
    """The elements of an array, read one by one; None if it is none, or holds more than `most`.

    An element longer than `longest` characters can't be read. So the work is bounded by what may
    be in a good array, and not by what fits into a body.
    """
    text = _decode(body)
    at = _after_space(text, 0)
    if text[at : at + 1] != "[":
        _read(text[:longest])  # a document all the same, or not even that
        return None
    at = _after_space(text, at + 1)
    elements: list[Any] = []
    while text[at : at + 1] != "]":
        if elements:
            at = _after_space(text, _expect(text, at, ","))
        if len(elements) == most:
            return None
        element, length = _read(text[at : at + longest], at)
        elements.append(element)
        at = _after_space(text, at + length)
    if _after_space(text, at + 1) != len(text):
        raise Malformed(f"The body is not JSON: something follows it, at character {at + 1}.")
    return elements


def _decode(body: bytes) -> str:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"The body is not UTF-8, at byte {error.start}.") from None
    if text.startswith("\ufeff"):
        raise Malformed("The body begins with a byte order mark; send it without.")
    return text


def _read(text: str, offset: int = 0) -> tuple[Any, int]:
    """The first value of a text, and where it ends; `offset` is where the text stands itself."""
    try:
        document, end = _decoder.raw_decode(text, _after_space(text, 0))
    except json.JSONDecodeError as error:
        place = f"character {offset + error.pos}"
        raise Malformed(f"The body is not JSON: {error.msg}, at {place}.") from None
    except ValueError:  # an integer with more digits than Python converts
        raise Malformed("A number in the document is too long.") from None
    except RecursionError:
        raise _too_deep() from None
    text = text[:end]
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise _too_deep()
    if "\\u" in text:
        _refuse_surrogates(document)
    return document, end


def _too_deep() -> Malformed:
    return Malformed(f"The document is nested deeper than {MAX_DEPTH} levels.")


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _expect(text: str, at: int, character: str) -> int:
    if text[at : at + 1] != character:
        raise Malformed(f"The body is not JSON: '{character}' is missing, at character {at}.")
    return at + 1


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
