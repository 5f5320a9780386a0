"""JSON as the boundary takes it: one reading of a document, or a refusal.

Duplicate keys, NaN, lone surrogates and deep nesting are where two readers of one document come to
differ; each is refused with its reason. The standard library's parser with a hook for pairs is as
fast as the ones that let duplicates pass.

Nothing is read that has more to it than a message can have: the cost of a document follows from its
length, at most a millisecond or two for 16 KiB of the worst. Only an array may be longer, which
`proxy.json_arrays` reads in pieces of that size.
"""

import json
import re
from typing import Any, NoReturn

from gatepost.errors import Malformed

MAX_DEPTH = 16
MAX_PARTS = 128
"""The most fields, elements, objects and arrays of a document, counted together: a message has a
dozen."""

# A string that has no end takes all that follows: to look for its end from each of its quotes again
# would cost the square of its length.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_MARK = re.compile(r"[\[\]{},]")
_SPACE = re.compile(r"[ \t\r\n]*")


def parse(body: bytes) -> Any:
    text = _decode(body)
    check_parts(text)
    document, end = read_value(text)
    if end != len(text) and after_space(text, end, len(text)) != len(text):
        raise Malformed(f"The body is not JSON: something follows it, at character {end}.")
    return document


def _decode(body: bytes) -> str:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(error.start) from None
    refuse_mark(text)
    return text


def not_utf8(place: int) -> Malformed:
    return Malformed(f"The body is not UTF-8, at byte {place}.")


def refuse_mark(text: str) -> None:
    if text.startswith("\ufeff"):
        raise Malformed("The body begins with a byte order mark; send it without.")


def read_value(text: str, offset: int = 0) -> tuple[Any, int]:
    """Return the first value of a text, and where it ends; `offset` is where the text stands
    itself."""
    at = 0 if text.startswith("{") else after_space(text, 0, len(text))
    try:
        document, end = _decoder.raw_decode(text, at)
        if text.find("\\u", 0, end) >= 0:
            _refuse_surrogates(document)
    except json.JSONDecodeError as error:
        place = f"character {offset + error.pos}"
        raise Malformed(f"The body is not JSON: {error.msg}, at {place}.") from None
    except ValueError:  # an integer with more digits than Python converts
        raise Malformed("A number in the document is too long.") from None
    except RecursionError:
        raise _too_deep() from None
    return document, end


def check_parts(text: str) -> None:
    """Raise Malformed if there is more to a text than there may be to a document. It need not be
    one."""
    opened = text.count("[") + text.count("{")
    if opened <= MAX_DEPTH and opened + text.count(",") <= MAX_PARTS:
        return
    depth = parts = 0
    for mark in _MARK.finditer(_STRING.sub("", text)):
        if mark[0] in "]}":
            depth -= 1
        else:
            parts += 1
            depth += mark[0] != ","
        if depth > MAX_DEPTH:
            raise _too_deep()
        if parts > MAX_PARTS:
            raise Malformed(f"The document has more than {MAX_PARTS} parts.")
        if depth < 0:
            return  # the parser says where


def _too_deep() -> Malformed:
    return Malformed(f"The document is nested deeper than {MAX_DEPTH} levels.")


def after_space(text: str, at: int, most: int) -> int:
    match = _SPACE.match(text, at, most)
    assert match is not None
    return match.end()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise Malformed("A name stands twice in the same object.")
    return document


def _constant(_name: str) -> NoReturn:
    raise Malformed("NaN and Infinity are not JSON.")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _refuse_surrogates(value: Any) -> None:
    """Refuse half of a surrogate pair, which escapes can spell and no UTF-8 can carry on."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Malformed("A string holds half of a surrogate pair.") from None
    elif isinstance(value, dict):
        for name, inner in value.items():
            _refuse_surrogates(name)
            _refuse_surrogates(inner)
    elif isinstance(value, list):
        for inner in value:
            _refuse_surrogates(inner)
