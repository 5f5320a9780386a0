"""The line by which a message's way is put together again."""

import pytest

from gatepost import trace

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        (f"00-{TRACE}-{SPAN}-01", True),
        (f"00-{TRACE}-{SPAN}-03", True),
        (f"00-{TRACE}-{SPAN}-00", False),
        (f"00-{TRACE}-{SPAN}-02", False),
        (f"00-{'0' * 32}-{SPAN}-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (f"00-{TRACE}-{SPAN}-01\n", False),
        (f"00-{TRACE.upper()}-{SPAN}-01", False),
        ("", False),
        ("t", False),
    ],
)
def test_what_is_recorded(text: str, recorded: bool) -> None:
    assert trace.is_recorded(text) is recorded


def test_a_fresh_one_is_good_and_recorded_by_nobody() -> None:
    made = {trace.fresh_traceparent() for _ in range(100)}
    assert len(made) == 100
    assert all(trace.is_traceparent(one) and not trace.is_recorded(one) for one in made)


@pytest.mark.parametrize("span", [SPAN, "0000000000000001", "ffffffffffffffff"])
def test_the_span_of_the_ledgers_commit_is_another_one_and_always_the_same(span: str) -> None:
    found = trace.ledger_span_id(span)
    assert trace.is_traceparent(trace.recorded(TRACE, found))
    assert found != span
    assert found == trace.ledger_span_id(span)
