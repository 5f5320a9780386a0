"""A masked number: never more than half of its digits, and always as many stars."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from main_server.messages.reading.masking import mask


@pytest.mark.parametrize(
    ("number", "masked"),
    [
        ("+491701234567", "+491****567"),
        ("+12345678901234", "+123****1234"),
        ("+1234567890", "+12****890"),
        ("+123", "+****3"),
        ("+12", "+****2"),
    ],
)
def test_it_shows_the_ends(number: str, masked: str) -> None:
    assert mask(number) == masked


@given(st.from_regex(r"\A\+[1-9][0-9]{1,14}\Z"))
def test_it_never_shows_more_than_half(number: str) -> None:
    masked = mask(number)
    assert masked.count("*") == 4
    assert sum(char.isdigit() for char in masked) <= (len(number) - 1) / 2
