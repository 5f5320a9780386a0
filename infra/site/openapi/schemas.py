"""Makes the schemas of all types that an interface speaks of, as makers of clients read them.

A field that is always answered is required, though our own class has a default for it; a default is
told only where it says something, and what is one of our words lists them all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Any

import msgspec

TEMPLATE = "#/components/schemas/{name}"
Words = Mapping[str, Mapping[str, Sequence[str]]]
"""The words that a field may be, by type and field, where our class says just that it is a text."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_MOMENTS = ("not_before", "not_after")


class Schemas:
    """The schemas of `types`; `answers` are those of them that we write."""

    def __init__(self, types: Iterable[Any], answers: Iterable[Any], words: Words) -> None:
        self._types = list(types)
        found, known = msgspec.json.schema_components(self._types, ref_template=TEMPLATE)
        written = {named for one in answers for named in _reached(one)}
        for name, schema in known.items():
            _unwrap(schema)
            _set_words(schema, words.get(name, {}))
            _set_moments(schema)
            if name in written:
                _require_sent(schema)
        self._found = _plain(list(found), known)
        self.components = _plain({n: one for n, one in known.items() if "enum" not in one}, known)

    def of(self, wanted: Any) -> dict[str, Any]:
        return dict(self._found[self._types.index(wanted)])


def _reached(kind: Any) -> set[str]:
    """Return the names of a type and of all within it."""
    _, known = msgspec.json.schema_components([kind], ref_template=TEMPLATE)
    return set(known)


def _properties(schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each field, or what it is when it isn't null."""
    for name, one in schema.get("properties", {}).items():
        for part in one.get("anyOf", [one]):
            if part != {"type": "null"}:
                yield name, part


def words_of(kind: type[Enum]) -> list[str]:
    """Return the words as they are written: a text's own, or the names in lower case."""
    return [str(one.value if isinstance(one, StrEnum) else one.name.lower()) for one in kind]


def _unwrap(schema: dict[str, Any]) -> None:
    """Put the class's docstring on one line, wherever it was broken."""
    if "description" in schema:
        schema["description"] = " ".join(schema["description"].split())


def _set_words(schema: Mapping[str, Any], words: Mapping[str, Sequence[str]]) -> None:
    for name, part in _properties(schema):
        if name in words:
            part["enum"] = list(words[name])


def _set_moments(schema: Mapping[str, Any]) -> None:
    for name, part in _properties(schema):
        if part.get("type") == "string" and (name.endswith("_at") or name in _MOMENTS):
            part["format"] = "date-time"


def _require_sent(schema: dict[str, Any]) -> None:
    """Require every field that is sent: what has a default is sent all the same; what may be left
    out (msgspec.UNSET) has none."""
    fields = schema.get("properties", {})
    sent = [name for name, one in fields.items() if "default" in one or name in _required(schema)]
    if sent:
        schema["required"] = sent
    for one in fields.values():
        one.pop("default", None)


def _required(schema: Mapping[str, Any]) -> list[str]:
    return list(schema.get("required", ()))


def _plain(told: Any, known: Mapping[str, Any]) -> Any:
    """Return the schema without defaults that say nothing, and with each list of values itself
    where it is referred to."""
    if isinstance(told, list):
        return [_plain(one, known) for one in told]
    if not isinstance(told, dict):
        return told
    name = str(told.get("$ref", "")).rpartition("/")[2]
    if name and "enum" in known[name]:
        own = {key: value for key, value in told.items() if key in ("default", "description")}
        return {"type": "string", "enum": known[name]["enum"], **own}
    return {
        key: _plain(inner, known)
        for key, inner in told.items()
        if key != "default" or inner not in _NOTHING
    }
