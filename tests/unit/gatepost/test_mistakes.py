"""What is wrong is said in our words: where and what, and never the value."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest
from msgspec import Meta
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gatepost.mistakes import NOT_ALLOWED, UNKNOWN, did_you_mean, nearest, of_msgspec, of_pydantic

FIELDS = ("sender_number", "message_body", "metadata", "client_id", "timestamp")
CANARY = "canary-7f3a9"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("sender_numbr", "sender_number"), ("senderNumber", "sender_number")),
        *(("SENDER-NUMBER", "sender_number"), ("sender_nubmer", "sender_number")),
        *(("messagebody", "message_body"), ("body", "message_body"), ("client", "client_id")),
        *(
            ("metadatas", "metadata"),
            ("timestmap", "timestamp"),
            ("sender_numbar", "sender_number"),
        ),
        *(("phone", None), ("", None), ("_", None), ("id", None), ("x" * 65, None)),
    ],
)
def test_what_is_typed_almost_right_is_known(typed: str, meant: str | None) -> None:
    assert nearest(typed, FIELDS) == meant
    assert did_you_mean(typed, FIELDS) == (f"; did you mean {meant}?" if meant else "")


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    count: Annotated[int, Meta(ge=1, le=9)] = 1
    name: Annotated[str, Meta(min_length=2, max_length=4)] = "ab"


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    colour: Colour = Colour.RED
    text: str | None = None
    share: float = 0.5
    inner: Inner | None = None
    many: Annotated[list[Inner], Meta(max_length=2)] = []
    form: Annotated[str, Meta(pattern="^a$")] = "a"
    said: UUID | None = None


@pytest.mark.parametrize(
    ("given", "pointer", "words"),
    [
        ({}, "/number", "is required"),
        ({"number": CANARY}, "/number", "must be a whole number"),
        ({"number": 1, "colour": CANARY}, "/colour", "is none of the values that are allowed"),
        ({"number": 1, "text": 7}, "/text", "must be a text or null"),
        ({"number": 1, "share": CANARY}, "/share", "must be a number"),
        ({"number": 1, "nubmer": CANARY}, "/nubmer", f"{UNKNOWN}; did you mean number?"),
        ({"number": 1, CANARY: 2}, "", UNKNOWN),
        ({"number": 1, "inner": {"count": 0}}, "/inner/count", "must be 1 or more"),
        ({"number": 1, "inner": {"count": 10}}, "/inner/count", "must be 9 or less"),
        ({"number": 1, "inner": {"name": "a"}}, "/inner/name", "must have 2 or more characters"),
        ({"number": 1, "many": [{}, {"name": 1}]}, "/many/1/name", "must be a text"),
        ({"number": 1, "many": [{}, {}, {}]}, "/many", "must have 2 or less entries"),
        ({"number": 1, "form": CANARY}, "/form", NOT_ALLOWED),
        ({"number": 1, "said": CANARY}, "/said", NOT_ALLOWED),
        ([CANARY], "", "must be an object"),
    ],
)
def test_of_a_body(given: Any, pointer: str, words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(msgspec.json.encode(given), type=Outer)
    found = of_msgspec(refused.value, Outer.__struct_fields__)
    assert (found.pointer, found.detail) == (pointer, words)
    assert CANARY not in f"{found}"


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: Annotated[int, Field(ge=1, le=9)] = 1
    colour: Colour = Colour.RED
    at: datetime | None = None
    yes: bool = True
    name: Annotated[str, Field(min_length=2, max_length=4, pattern="^a")] = "aa"
    said: UUID | None = None
    needed: str


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "is required"),
        ({"needed": 1}, "must be a text"),
        ({"needed": "x", "number": CANARY}, "must be a whole number"),
        ({"needed": "x", "number": 0}, "must be 1 or more"),
        ({"needed": "x", "number": 10}, "must be 9 or less"),
        ({"needed": "x", "colour": CANARY}, "must be 'red' or 'green'"),
        ({"needed": "x", "at": CANARY}, "must be a time in ISO 8601"),
        ({"needed": "x", "yes": CANARY}, "must be true or false"),
        ({"needed": "x", "name": "a"}, "must have 2 characters or more"),
        ({"needed": "x", "name": "b" * 5}, "may have 4 characters at most"),
        ({"needed": "x", "name": "bbb"}, "must match ^a"),
        ({"needed": "x", "said": CANARY}, "must be a UUID"),
        ({"needed": "x", CANARY: 1}, UNKNOWN),
    ],
)
def test_of_parameters_and_settings(given: Any, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Asked.model_validate(given)
    (error,) = refused.value.errors()
    assert of_pydantic(error) == words
