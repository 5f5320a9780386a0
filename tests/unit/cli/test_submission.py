"""Reading what is to be sent: strict where the gateway is, and silent about what it was."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatepost.cli.failure import Failure
from gatepost.cli.submission import LARGEST, parse
from gatepost.client import Message

SECRET = "+15550100200"


def test_all_fields() -> None:
    document = {
        "sender_number": "n",
        "message_body": "b",
        "metadata": {"client_id": "c", "timestamp": "t"},
        "idempotency_key": "k",
        "priority": 9,
        "ttl": 60,
        "expires_at": "e",
        "due_at": "d",
        "ordering_key": "o",
    }
    assert parse(json.dumps(document).encode()) == Message(
        "n", "b", "c", "t", "k", 9, 60, "e", "d", "o"
    )


def test_a_byte_order_mark_is_no_mistake() -> None:
    content = b'\xef\xbb\xbf{"sender_number": "n", "message_body": "b"}'
    assert parse(content) == Message("n", "b")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "not JSON"),
        (b"[]", "not an object"),
        (b'"+15550100200"', "not an object"),
        (b"{}{}", "--lines"),
        (b"{}", "/sender_number is missing"),
        (b'{"sender_number": "+15550100200"}', "/message_body is missing"),
        (b'{"sender_number": 15550100200, "message_body": "b"}', "/sender_number is not a text"),
        (b'{"sender_number": "n", "message_body": "b", "x": 1}', "/x is not known"),
        (b'{"+15550100200": "n"}', "a field of / is not known"),
        (b'{"metadata": {"x": 1}}', "/metadata/x is not known"),
        (b'{"metadata": []}', "/metadata is not an object"),
        (b'{"a": 1, "a": 1}', "a field twice"),
        (b"\xff", "not UTF-8"),
        (b"[" * 50_000, "nested too deep"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "too long"),
        (b" " * (LARGEST + 1), "too large"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, words: str) -> None:
    with pytest.raises(Failure) as caught:
        parse(content)
    assert words in str(caught.value)
    assert SECRET not in repr(caught.value.document())


texts = st.text() | st.just(SECRET)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=8,
)


@given(documents.map(lambda document: json.dumps(document).encode()) | st.binary())
@example(json.dumps({"sender_number": SECRET, "message_body": SECRET}).encode())
def test_nothing_that_was_given_is_said_again(content: bytes) -> None:
    try:
        shown = repr(parse(content))
    except Failure as failure:
        shown = f"{failure}{failure.document()}"
    assert SECRET not in shown
