"""The arrows of a row's life: which changes are allowed, and whether each row took those only.

queued → any · failed → delivered · failed → queued as a later generation · any → erased
"""

from collections.abc import Iterator
from itertools import pairwise

from tests.chaos.checker.case import Case, Finding
from tests.chaos.checker.evidence import Transition


def wrong_arrows(case: Case) -> Iterator[Finding]:
    ways: dict[str, list[Transition]] = {}
    for one in case.evidence.transitions:
        ways.setdefault(one.message_id, []).append(one)
    for message_id, way in ways.items():
        for one in way:
            if not is_arrow(one):
                kind = "duplicated" if one.before == one.after == "delivered" else "unexpected"
                yield Finding(kind, message_id, f"went from {one.before} to {one.after}")
        yield from _unseen(message_id, way)
    for row in case.fates.rows.values():
        if row.message_id not in ways:
            yield Finding("unexpected", row.message_id, "a row that nobody saw come")
        elif ways[row.message_id][-1].after != row.status:
            yield Finding("unexpected", row.message_id, "a row that nobody saw change")


def is_arrow(one: Transition) -> bool:
    if one.attempts < one.attempts_before or one.before in ("erased", "duplicate"):
        return one.after == "erased" and one.before == "duplicate"
    if one.before is None or one.after == "erased":
        return True
    if one.before == "queued":
        return one.generation == one.generation_before
    if one.after == "queued":
        return one.before == "failed" and one.generation > one.generation_before
    return one.before == "failed" and one.after == "delivered"


def _unseen(message_id: str, way: list[Transition]) -> Iterator[Finding]:
    """Two effects of one message, and changes that the trigger didn't see."""
    if sum(one.after == "delivered" for one in way) > 1:
        yield Finding("duplicated", message_id, "became delivered more than once")
    for earlier, later in pairwise(way):
        if later.before != earlier.after:
            yield Finding("unexpected", message_id, f"{earlier.after} became {later.before}")
