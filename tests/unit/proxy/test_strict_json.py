"""Strict JSON: one reading of a document, or Malformed; quickly, whatever is sent."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatepost.errors import Malformed
from proxy import json_arrays, strict_json
from proxy.json_arrays import read_array
from proxy.strict_json import MAX_DEPTH, MAX_PARTS, parse

DEEPEST = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
TOO_DEEP = b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Halves of surrogate pairs have a table of their own.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not JSON"),
        (b" ", "not JSON"),
        (b"{", "not JSON"),
        (b"}", "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b'{"a":1,}', "not JSON"),
        (b'{"a" 1}', "not JSON"),
        (b'{"a":1} {"a":1}', "not JSON"),
        (b'{"a":1}garbage', "not JSON"),
        (b"[1,]", "not JSON"),
        (b"// a\n{}", "not JSON"),
        (b'{"a":01}', "not JSON"),
        (b'{"a":.5}', "not JSON"),
        (b'{"a":+1}', "not JSON"),
        (b'{"a":0x10}', "not JSON"),
        (b'{"a":1_000}', "not JSON"),
        (b'{"a":"\x00"}', "not JSON"),
        (b'{"a":"\n"}', "not JSON"),
        (b'{"a":"\x1f"}', "not JSON"),
        (b'{"a":"\\x41"}', "not JSON"),
        (b'{"a":"\\u00"}', "not JSON"),
        (b'{"a":"\\u+041"}', "not JSON"),
        (b'{"a":"\\u 041"}', "not JSON"),
        (b'{"a":"\\ud8"}', "not JSON"),
        (b'{"a":tru}', "not JSON"),
        (b'{"a":True}', "not JSON"),
        (b"undefined", "not JSON"),
        (b"\x00", "not JSON"),
        (b"{\x00}", "not JSON"),
        (b"\x0b{}", "not JSON"),
        (b"\x0c{}", "not JSON"),
        (b"\xc2\xa0{}", "not JSON"),
        ("{“a”:1}".encode(), "not JSON"),
        ('{"a":\uff11}'.encode(), "not JSON"),
        ('{"a":\u0661}'.encode(), "not JSON"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":Infinity}', "NaN"),
        (b'{"a":-Infinity}', "NaN"),
        (b"NaN", "NaN"),
        (b"[[[NaN]]]", "NaN"),
        (b'{"a":"\\ud800"}', "surrogate"),
        (b'{"a":"\\udc00"}', "surrogate"),
        (b'{"a":"\\udc00\\ud800"}', "surrogate"),
        (b'{"a":"\\ud83d!\\ude00"}', "surrogate"),
        (b'{"\\ud800":1}', "surrogate"),
        (b'{"a":{"b":{"\\uDFFF":1}}}', "surrogate"),
        (b'[[["x","\\udbff"]]]', "surrogate"),
        (b'"\\ud83d"', "surrogate"),
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":1,"b":2,"a":3}', "twice"),
        (b'{"a":1,"\\u0061":2}', "twice"),
        (b'{"":1,"":2}', "twice"),
        (b'{"x":{"a":1,"a":2}}', "twice"),
        (b'[[{"a":1,"a":2}]]', "twice"),
        (b'{"x":[{"y":{"z":{"a":1,"a":{}}}}]}', "twice"),
        (TOO_DEEP, "deeper"),
        (b"[" * 100_000, "deeper"),
        (b'{"a":' * 5_000, "deeper"),
        (b'{"a":' * 17 + b"1" + b"}" * 17, "deeper"),
        (b'[{"a":' * 9 + b"1" + b"}]" * 9, "deeper"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8, at byte 0"),
        (b"{\x00}\x00", "not JSON"),
        (b'{"a":"\xff"}', "not UTF-8, at byte 6"),
        (b'{"a":"\xc3"}', "not UTF-8"),
        (b'{"a":"\xc0\x80"}', "not UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a":"\xf4\x90\x80\x80"}', "not UTF-8"),
        (b'{"a":' + b"1" * 5_000 + b"}", "too long"),
        (b'{"a":-' + b"1" * 5_000 + b"}", "too long"),
    ],
)
def test_what_has_more_than_one_reading_or_none_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        parse(body)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b" \t\r\n{ } \n", {}),
        (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        ('{"a":"\U0001f600"}'.encode(), {"a": "\U0001f600"}),
        (b'{"a":"\\u0000"}', {"a": "\0"}),
        (b'{"a":"[[[[[[[[[[[[[[[[[[[[{{{{{{{{"}', {"a": "[" * 20 + "{" * 8}),
        (b'{"a":"\\"[[[[[[[[[[[[[[[[[[[["}', {"a": '"' + "[" * 20}),
        (b'{"a":"\\\\","b":"[[[[[[[[[[[[[[[[["}', {"a": "\\", "b": "[" * 17}),
        (b"[" + b"[]," * 50 + b"[]]", [[]] * 51),
        (b'{"a":1e999}', {"a": float("inf")}),
        (b'{"a":-0,"A":1E-999}', {"a": 0, "A": 0.0}),
        (b'{"a":{"a":{"a":1}}}', {"a": {"a": {"a": 1}}}),
        ('{"\ufeff":"\ufeff"}'.encode(), {"\ufeff": "\ufeff"}),
    ],
)
def test_what_has_one_reading_is_read(body: bytes, read: Any) -> None:
    assert parse(body) == read


def test_the_deepest_that_is_allowed_is_read() -> None:
    assert json.dumps(parse(DEEPEST)).encode() == DEEPEST


@given(JSON)
def test_every_document_is_read_as_what_was_written(document: Any) -> None:
    for ascii_only in (True, False):
        assert parse(json.dumps(document, ensure_ascii=ascii_only).encode()) == document


@given(st.binary(max_size=300) | st.text(alphabet='{}[]":,\\u0dD8e1 \n').map(str.encode))
@example(b'{"a":"\\')
def test_anything_is_read_or_malformed(body: bytes) -> None:
    detail = ""
    try:
        parse(body)
    except Malformed as refused:
        detail = refused.detail
    assert len(detail) < 100


@pytest.mark.parametrize(
    "body",
    [
        b"{" * 17 + b'"' + b'\\"' * 8_000,
        b"[" * 17 + b'"' + b'\\"' * 8_000 + b"\\",
        b"[" * 17 + b'"' * 16_000,
        b"[" * 17 + b'"\\' * 8_000,
        b"[" * 17 + b"\\" * 16_000,
        b"[" * 16_000,
        b"[]" * 8_000,
        b'{"a":[' + b'"",' * 5_000 + b'"' + b"[" * 20,
        b'{"a":"' + b"\\u0041" * 2_600 + b'"}',
        b'{"a":' + b"1" * 16_000 + b"}",
        b'{"a":0.' + b"1" * 16_000 + b"}",
        b'{"a":1e' + b"1" * 16_000 + b"}",
        b" " * 16_000,
    ],
    ids=range(13),
)
def test_no_document_holds_a_process_up(body: bytes) -> None:
    """A good one of that size takes a tenth of a millisecond. Measured in processor time."""
    started = time.process_time()
    with suppress(Malformed):
        parse(body)
    assert time.process_time() - started < 0.05


def elements(body: bytes, longest: int = 99) -> list[Any] | None:
    found = read_array(body, longest=longest)
    return None if found is None else list(found)


@pytest.mark.parametrize("text", ["[]", " [ ] ", "[1]", '[1 , {"a": [2]} ,\n"x"]', "[[],{}]"])
def test_an_array_is_read_as_the_standard_library_reads_it(text: str) -> None:
    assert elements(text.encode()) == json.loads(text)


@given(st.lists(JSON | st.text(max_size=300), max_size=40), st.integers(64, 400))
def test_an_array_is_read_the_same_whatever_its_windows_are(array: list[Any], window: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_arrays, "WINDOW_BYTES", window)
        for text in (json.dumps(array, ensure_ascii=False), json.dumps(array, indent=3)):
            assert elements(text.encode(), longest=10_000) == array


@pytest.mark.parametrize(
    "text", ["", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1] x", "x", "[1;2]", "nul"]
)
def test_what_is_no_array_in_json_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        elements(text.encode())


def test_another_document_is_told_apart_from_bad_json() -> None:
    assert elements(b'{"a": 1}') is None


@pytest.mark.parametrize("place", [0, 5, 70_000])
def test_where_an_array_is_not_utf8_or_not_json_is_told(place: int) -> None:
    before = b"[" + b"1," * place
    with pytest.raises(Malformed, match=f"not UTF-8, at byte {len(before) + 1}"):
        elements(before + b'"\xff"]')
    with pytest.raises(Malformed, match=f"at character {len(before)}"):
        elements(before + b"x]")


def test_an_element_that_is_too_long_or_too_deep_or_has_too_many_parts_is_refused() -> None:
    for body, longest, why in (
        (b'["' + b"x" * 99 + b'"]', 99, "not JSON"),
        (b"[" * 5000 + b"]" * 5000, 20_000, "nested"),
        (b'[{"a":[' + b"0," * MAX_PARTS + b"0]}]", 20_000, "more than 128 parts"),
        (b"[" + b" " * 100 + b"1]", 99, "white space"),
        (b" " * 100 + b"[1]", 99, "white space"),
        (b"[1" + b" " * 100 + b"]", 99, "white space"),
        (b"[1]" + b" " * 100, 99, "white space"),
    ):
        with pytest.raises(Malformed, match=why):
            elements(body, longest)


def test_a_string_may_hold_as_many_commas_and_brackets_as_it_likes() -> None:
    assert parse(b'{"a":"' + b",[{" * 500 + b'"}') == {"a": ",[{" * 500}
    with pytest.raises(Malformed, match="parts"):
        parse(b'{"a":"' + b",[{" * 500 + b'","b":[' + b"0," * MAX_PARTS + b"0]}")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" + b"{}," * 5_000_000 + b"{}]", id="many elements"),
        pytest.param(b'[{"a":[' + b"{}," * 5_000_000 + b"{}]}]", id="one element of many"),
        pytest.param(b'{"a":[' + b"0," * 7_000_000 + b"0]}", id="no array, of many"),
    ],
)
def test_of_a_body_with_too_many_parts_little_is_read(body: bytes) -> None:
    """The parser is told what it may look at: counted, because a time would depend on others."""
    read = 0
    original = strict_json._decoder.raw_decode

    def counting(text: str, at: int = 0) -> tuple[object, int]:
        nonlocal read
        read += len(text)
        return original(text, at)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json._decoder, "raw_decode", counting)
        with suppress(Malformed):
            for _ in zip(range(1000), read_array(body, longest=16_384) or (), strict=False):
                pass
    assert read <= 1001 * 16_384
