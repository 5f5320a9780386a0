"""How refusals are read, whoever wrote them."""

import json
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.client.calls import whoami_call
from gatepost.client.errors import GatepostError
from gatepost.client.refusals import refusal, retry_after

NOW = datetime(2026, 11, 18, 10, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("0", 0.0),
        ("120", 120.0),
        ("Wed, 18 Nov 2026 10:00:30 GMT", 30.0),
        ("Wed, 18 Nov 2026 09:00:00 GMT", 0.0),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_in_all_its_forms(header: str | None, expected: float | None) -> None:
    assert retry_after(header, NOW) == expected


def test_words_of_the_gateway_cannot_move_the_cursor() -> None:
    document = {"detail": "all well\x1b[2J\rnot so\u202e", "errors": [{"pointer": "/a\x1b"}, 7]}
    response = httpx.Response(
        422, json=document, headers={"Content-Type": "application/problem+json"}
    )
    error = refusal(whoami_call(), response, NOW)
    assert str(error).isprintable()


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
problems = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "title", "detail", "errors", "request_id"), json_values)
)


@given(status=st.integers(300, 599), document=problems | json_values, retry=st.text())
def test_whatever_comes_back_becomes_an_error_of_ours(
    status: int, document: object, retry: str
) -> None:
    headers = [
        (b"Content-Type", b"application/problem+json"),
        (b"Retry-After", retry.encode("utf-8", "replace")),
    ]
    response = httpx.Response(status, content=json.dumps(document).encode(), headers=headers)
    error = refusal(whoami_call(), response, NOW)
    assert isinstance(error, GatepostError)
    assert str(error)


@given(status=st.integers(300, 599), content=st.binary())
def test_whatever_bytes_come_back_as_well(status: int, content: bytes) -> None:
    headers = {"Content-Type": "application/problem+json"}
    response = httpx.Response(status, content=content, headers=headers)
    assert isinstance(refusal(whoami_call(), response, NOW), GatepostError)
