"""Stores that are back: where nothing is wrong, both are used again by every proxy.

A breaker that never tried again would lose nothing, for one store is enough, and the other is told
later. It shows in what senders are told: never again that both stores have their message.
"""

from collections.abc import Iterator

from tests.chaos.checker.case import Case, Finding
from tests.chaos.checker.evidence import ACCEPTED, Post

ENOUGH = 30
"""Acceptances by one proxy in a row, in calm. A starved machine has some in one store; not all."""


def both_stores_again(case: Case) -> Iterator[Finding]:
    for stretch in calm_stretches(case):
        if len(stretch) >= ENOUGH and all(post.durability != "full" for post in stretch):
            said = ", ".join(sorted({post.durability or "?" for post in stretch}))
            why = f"{stretch[0].gate} said {said} of all {len(stretch)} while nothing was wrong"
            yield Finding("unexpected", stretch[0].marker, why)


def calm_stretches(case: Case) -> list[list[Post]]:
    """What each proxy has accepted in each time in which nothing was wrong. What is repeated is
    told how its first post fared, or what became of that since."""
    found: dict[tuple[str | None, float], list[Post]] = {}
    for post in case.evidence.posts:
        first = post.outcome == ACCEPTED and post.kind != "repeat"
        told = first and post.gate and post.durability
        if told and case.calm.is_calm(post.asked_wall):
            found.setdefault((post.gate, case.calm.since(post.asked_wall)), []).append(post)
    return list(found.values())
