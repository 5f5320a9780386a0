"""Says what is wrong with what was given, in our words: where and what, never the value.

The words of pydantic and msgspec are for programmers, may repeat what was sent, and change with
their versions. A name is repeated only if it is a plain one.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from gatepost.errors import FieldError

UNKNOWN = "is not a field that is known here"
NOT_ALLOWED = "is not a value that is allowed here"
LONGEST = 64
_PLAIN_NAME = re.compile(rf"\A[A-Za-z_]{{1,{LONGEST}}}\Z")
_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
"""Our words for types, by msgspec's names for them."""
_OF_TYPES = {
    "missing": "is required",
    "extra_forbidden": UNKNOWN,
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "string_too_short": "must have {min_length} characters or more",
    "string_too_long": "may have {max_length} characters at most",
    "string_pattern_mismatch": "must match {pattern}",
    "too_short": "must have {min_length} entries or more",
    "too_long": "may have {max_length} entries at most",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "finite_number": "must be a finite number",
    "value_error": "{error}",
    "assertion_error": "{error}",
}
_OF_BEGINNINGS = {
    "int_": "must be a whole number",
    "float_": "must be a number",
    "bool_": "must be true or false",
    "string_": "must be a text",
    "datetime_": "must be a time in ISO 8601",
    "date_": "must be a day, as 2026-11-19",
    "uuid_": "must be a UUID",
    "path_": "must be the path of a file",
    "list_": "must be a list",
    "dict_": "must be a section of names and values",
    "model_": "must be a section of names and values",
}
"""Our words for pydantic's types of errors: here by how a type begins, above by the whole type."""
_EXPECTED = re.compile(r"\AExpected `([a-z |]+)`")
_NAMED = re.compile(r"\AObject (missing required|contains unknown) field `(.*)`\Z", re.DOTALL)
_BOUND = re.compile(r"\AExpected `(\w+)[^`]*`( of length)? (>=|<=|>|<) ([0-9.-]+)\Z")
_SIDES = {">=": "{} or more", "<=": "{} or less", ">": "more than {}", "<": "less than {}"}


def is_plain(name: str) -> bool:
    return _PLAIN_NAME.match(name) is not None


def unknown_field(parent: str, name: str, known: Iterable[str] = ()) -> FieldError:
    """Return the error of an unknown field, with the known one that it may have been meant for."""
    if not is_plain(name):
        return FieldError(parent, UNKNOWN)
    return FieldError(f"{parent}/{name}", UNKNOWN + did_you_mean(name, known))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that differs in how it is written, in one character or in two that have
    changed places, or that begins or ends with the given one. Quick: anybody may ask as they
    like."""
    plain = _plain(name[: LONGEST + 1])
    names = list(known)
    typed = _without_one(plain) if len(plain) <= LONGEST else frozenset()
    looks = (
        lambda one: one == plain,
        lambda one: bool(typed & _of_known(one)),
        lambda one: len(plain) > 3 and (one.startswith(plain) or one.endswith(plain)),
    )
    return next((one for look in looks for one in names if look(_plain(one))), None)


def of_pydantic(error: Mapping[str, Any]) -> str:
    """Return our words for one entry of pydantic's errors()."""
    kind, given = str(error["type"]), error.get("ctx", {})
    words = _OF_TYPES.get(kind)
    if words is None:
        found = (told for begins, told in _OF_BEGINNINGS.items() if kind.startswith(begins))
        return next(found, NOT_ALLOWED)
    return words.format_map(given)


def of_msgspec(error: Exception, known: Iterable[str] = ()) -> FieldError:
    """Return the error that msgspec's ValidationError tells; `known` are the fields that there
    are."""
    words, _, place = str(error).rpartition(" - at `$")
    if not words:
        words, place = str(error), ""
    pointer = _pointer(place.removesuffix("`"))
    if named := _NAMED.match(words):
        how, name = named[1], named[2]
        if how == "contains unknown":
            return unknown_field(pointer, name, known)
        return FieldError(f"{pointer}/{name}", "is required")
    return FieldError(pointer, _of_msgspecs_words(words))


def _of_msgspecs_words(words: str) -> str:
    if words.startswith("Invalid enum value"):
        return "is none of the values that are allowed"
    if bound := _BOUND.match(words):
        amount = _SIDES[bound[3]].format(bound[4])
        of = {"str": " characters", "array": " entries"}.get(bound[1], "")
        return f"must have {amount}{of}" if bound[2] else f"must be {amount}"
    if expected := _EXPECTED.match(words):
        kinds = [_KINDS[one] for one in expected[1].split(" | ") if one in _KINDS]
        if kinds and "matching" not in words:
            return f"must be {' or '.join(kinds)}"
    return NOT_ALLOWED


def _pointer(place: str) -> str:
    """Return `.a[0].b` as /a/0/b. A key of somebody's own (`[...]`) isn't said."""
    parts = re.findall(r"\.(\w+)|\[(\d+)\]", place)
    return "".join(f"/{name or index}" for name, index in parts)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _without_one(plain: str) -> frozenset[str]:
    return frozenset({plain, *(plain[:n] + plain[n + 1 :] for n in range(len(plain)))})


_of_known = lru_cache(maxsize=2048)(_without_one)
