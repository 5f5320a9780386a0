"""Halving: whichever rows are bad, the others are done, each once, and told in their order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import DataError, OperationalError

from main_server.messages.bisect import bisect


@given(count=st.integers(1, 40), bad=st.sets(st.integers(0, 39)))
def test_all_but_the_bad_are_done_once_and_told_in_their_order(count: int, bad: set[int]) -> None:
    done: list[int] = []

    def work(items: Sequence[int]) -> list[tuple[int, str]]:
        if bad.intersection(items):
            raise DataError("too long", None, Exception())
        done.extend(items)
        return [(item, "done") for item in items]

    told = bisect(work, range(count), lambda item: (item, "refused"))
    assert told == [(item, "refused" if item in bad else "done") for item in range(count)]
    assert done == [item for item in range(count) if item not in bad]


def test_what_passes_by_itself_is_no_reason_to_halve() -> None:
    tries: list[int] = []

    def work(items: Sequence[int]) -> list[int]:
        tries.append(len(items))
        raise OperationalError("gone", None, Exception(2006, "gone away"))

    with pytest.raises(OperationalError):
        bisect(work, range(8), lambda item: item)
    assert tries == [8]
