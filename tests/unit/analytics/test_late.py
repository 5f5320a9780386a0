"""What changed after a day was sealed: never counted too high, never missed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as some

from analytics.late import count_late

STATUSES = ("queued", "delivered", "failed", "erased")
states = some.tuples(some.sampled_from("ab"), some.sampled_from(STATUSES))


@given(moves=some.lists(some.tuples(states, some.sampled_from(STATUSES))), new=some.lists(states))
def test_it_is_at_most_what_changed(
    moves: list[tuple[tuple[str, str], str]], new: list[tuple[str, str]]
) -> None:
    before = Counter(old for old, _ in moves)
    after = Counter([*((domain, status) for (domain, _), status in moves), *new])
    changed = sum(old[1] != status for old, status in moves) + len(new)
    found = count_late(before, after)
    assert found <= changed
    assert (found == 0) == (before == after)


def test_what_is_gone_is_no_change() -> None:
    assert count_late({("a", "delivered"): 5, ("a", "failed"): 1}, {("a", "delivered"): 2}) == 0


def test_a_late_success_and_a_late_message() -> None:
    published = {("a", "failed"): 2}
    assert count_late(published, {("a", "failed"): 1, ("a", "delivered"): 1}) == 1
    assert count_late(published, {("a", "failed"): 2, ("b", "delivered"): 3}) == 3
