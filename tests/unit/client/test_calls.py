"""Requests as values: they carry everything and show nothing."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.client.answers import Receipt
from gatepost.client.calls import send_call, status_call
from gatepost.client.messages import Message


@given(number=st.text(), body=st.text(), key=st.text("ab~!", min_size=1, max_size=255))
def test_a_send_carries_what_it_was_given(number: str, body: str, key: str) -> None:
    call = send_call(Message(number, body), key)
    assert call.content is not None
    assert json.loads(call.content) == {"sender_number": number, "message_body": body}
    assert call.headers["Idempotency-Key"] == key


def test_a_call_and_a_receipt_show_nothing_of_what_was_sent() -> None:
    message = Message("+15550100200", "words", "me", "t", ordering_key="+15550100200")
    call = send_call(message, "+15550100200")
    receipt = Receipt("id", "queued", datetime.now(UTC), "full", None, "+15550100200")
    for shown in (repr(message), repr(call), str(call), repr(receipt), str(receipt)):
        assert "+15550100200" not in shown
        assert "words" not in shown


def test_a_time_is_sent_in_utc_with_milliseconds() -> None:
    moment = datetime(2025, 10, 20, 14, 34, 56, 789_000, tzinfo=timezone(timedelta(hours=2)))
    call = send_call(Message("n", "b", timestamp=moment), "k")
    assert call.content is not None
    assert json.loads(call.content)["metadata"] == {"timestamp": "2025-10-20T12:34:56.789Z"}


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        send_call(Message("n", "b", due_at=datetime(2025, 10, 20)), "k")


def test_an_id_is_asked_for_in_the_one_form_that_the_gateway_knows() -> None:
    path = "/api/v1/messages/019a6f00-0000-7000-8000-000000000001"
    for written in ("019A6F00-0000-7000-8000-000000000001", "019a6f00000070008000000000000001"):
        assert status_call(written).path == path
