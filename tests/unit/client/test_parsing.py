"""Whatever a success says, it becomes a value or an UnexpectedAnswer."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.client.calls import send_call
from gatepost.client.errors import UnexpectedAnswer
from gatepost.client.messages import Message
from gatepost.client.parsing import parse_identity, parse_receipt, parse_status
from tests.unit.client.gateway import ACCEPTED, WHOAMI, told_status

SEND = send_call(Message("n", "b"), "k")
odd_values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text()
    | st.lists(st.text())
    | st.dictionaries(st.text(), st.integers())
)
paths = st.sampled_from(
    [
        ("certificate",),
        ("certificate", "not_after"),
        ("limits", "burst"),
        ("limits", "rate_per_second"),
        ("formats", "max_body_characters"),
        ("client_id",),
    ]
)


def answer(document: Any) -> httpx.Response:
    return httpx.Response(200, content=json.dumps(document).encode())


def shown(parse: Callable[[], object]) -> str:
    try:
        return str(parse())
    except UnexpectedAnswer as error:
        return str(error)


@given(name=st.sampled_from(sorted(ACCEPTED.document)), value=odd_values)
def test_an_odd_receipt(name: str, value: object) -> None:
    document = {**ACCEPTED.document, name: value}
    assert shown(lambda: parse_receipt(SEND, answer(document))).isprintable()


@given(name=st.sampled_from(sorted(told_status("queued").document)), value=odd_values)
def test_an_odd_status(name: str, value: object) -> None:
    document = {**told_status("queued").document, name: value}
    assert shown(lambda: parse_status(answer(document))).isprintable()


@given(path=paths, value=odd_values)
def test_an_odd_identity(path: tuple[str, ...], value: object) -> None:
    document = deepcopy(WHOAMI.document)
    part = document
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    assert shown(lambda: parse_identity(answer(document))).isprintable()


@given(st.binary())
def test_odd_bytes(content: bytes) -> None:
    with pytest.raises(UnexpectedAnswer):
        parse_receipt(SEND, httpx.Response(202, content=content))


def test_what_is_new_to_this_client_is_passed_over() -> None:
    assert parse_receipt(SEND, answer({**ACCEPTED.document, "new": 1})).status == "queued"
