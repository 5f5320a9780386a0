"""The promises, each by its number: what the evidence shows against it.

A promise is a function from the case to findings, and a count of what it was judged by: one for
which nothing happened must not be taken for one that held.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.chaos.checker.arrows import wrong_arrows
from tests.chaos.checker.case import Case, Finding, excuse
from tests.chaos.checker.contents import delivered_rows, shown_as_sent
from tests.chaos.checker.evidence import ACCEPTED, DECLINED, REFUSED, Post, Row
from tests.chaos.checker.fates import Fate, Message
from tests.chaos.checker.recoveries import both_stores_again, calm_stretches
from tests.chaos.checker.waits import (
    in_time_after_a_death,
    retries_block_nobody,
    waits_beside_retries,
)

NS = 1_000_000_000
REVOKE = "revoke"
"""The fault that revokes a client's certificate; its target is the client."""
_OUT = ("revoked-certificate", "unknown-certificate")
_FULL = ("full", "maxmemory")


@dataclass(frozen=True, slots=True)
class Promise:
    name: str
    broken_by: Callable[[Case], Iterator[Finding]]
    seen: Callable[[Case], int]
    """By how many of what it is judged."""
    of_what: str


def not_lost(case: Case) -> Iterator[Finding]:
    """I1: what was acknowledged is there at the end, and was delivered unless it is poison."""
    for message in case.fates.messages.values():
        for message_id, told in message.promised.items():
            fate = case.fates.of(message_id)
            if fate is Fate.GONE and not excuse(case, told):
                said = ", ".join(sorted({post.durability or "?" for post in told}))
                yield Finding("lost", message_id, f"acknowledged ({said}), and no trace of it")
            elif (other := _other_text(case, message, message_id)) is not None:
                yield Finding("lost", message_id, f"its row holds another text: {other}")
            elif message.expect == "deliver" and fate in (Fate.FAILED, Fate.ERASED):
                yield Finding("unexpected", message_id, f"acknowledged, and {fate.value}")
            elif message.expect == "fail" and fate in (Fate.DELIVERED, Fate.ERASED):
                yield Finding("unexpected", message_id, f"poison, and {fate.value}")


def _other_text(case: Case, message: Message, message_id: str) -> str | None:
    row = case.fates.rows.get(message_id)
    return row.marker if row and row.marker not in (None, message.marker) else None


def excused(case: Case) -> list[str]:
    """Acknowledged messages that only a Redis had which the harness destroyed in time."""
    found = []
    for message in case.fates.messages.values():
        for message_id, told in message.promised.items():
            if case.fates.of(message_id) is Fate.GONE and (fault := excuse(case, told)):
                found.append(f"{message_id}: {fault.name} of {fault.target}")
    return found


def one_effect(case: Case) -> Iterator[Finding]:
    """I2: one delivered row for a message, changed along the arrows; nothing from a refusal."""
    for message in case.fates.messages.values():
        delivered = [row.message_id for row in message.rows if row.status == "delivered"]
        if len(delivered) > 1:
            yield Finding("duplicated", message.marker, f"delivered as {', '.join(delivered)}")
        if message.rows and not _may_exist(message):
            said = ", ".join(sorted({post.outcome for post in message.posts}))
            yield Finding("unexpected", message.rows[0].message_id, f"{said}, and there is a row")
    for row in case.fates.rows.values():
        if row.duplicate_of and row.duplicate_of not in case.fates.rows:
            yield Finding("unexpected", row.message_id, "a duplicate of what isn't there")
    yield from wrong_arrows(case)


def _may_exist(message: Message) -> bool:
    """Whether at least one of its posts wasn't told that nothing was kept of it."""
    return any(post.outcome not in (REFUSED, DECLINED) for post in message.posts)


def all_end(case: Case) -> Iterator[Finding]:
    """I5: at the end nothing waits: in the ledger, in the queue, or between them."""
    for row in case.fates.rows.values():
        if row.status == "queued":
            left = case.fates.left.get(row.message_id)
            where = f"in Redis: {', '.join(left.places)}" if left else "nowhere in Redis"
            yield Finding("stuck", row.message_id, f"queued in the ledger, {where}")
    for left in case.fates.left.values():
        found = case.fates.rows.get(left.message_id)
        if found is None or found.status != "queued":
            state = _state(found) if found else "not in the ledger"
            yield Finding("stuck", left.message_id, f"{state}, in Redis: {', '.join(left.places)}")


def full_is_said(case: Case) -> Iterator[Finding]:
    """I11: who is turned away is told when to come back; nothing is dropped to make room."""
    for post in case.evidence.posts:
        if post.whole and post.status in (429, 503) and not post.retry_after:
            yield Finding("unexpected", post.marker, f"{post.status} without Retry-After")
    full = [one for one in case.evidence.faults if any(word in one.name for word in _FULL)]
    lost = {finding.subject for finding in not_lost(case) if finding.kind == "lost"}
    for post in case.evidence.posts:
        if post.message_id in lost and any(one.begin <= post.asked <= one.end for one in full):
            yield Finding("lost", post.message_id, "accepted while a store was full, then dropped")


def revoked_is_out(case: Case) -> Iterator[Finding]:
    """I8: a second after its revocation nothing more is accepted of a client."""
    for post in _after_revocation(case):
        if post.outcome == ACCEPTED:
            yield Finding("unexpected", post.marker, f"accepted of {post.client}, which is revoked")


def _after_revocation(case: Case) -> list[Post]:
    """What began later than a second after the revoking call had answered."""
    out = {one.target: one.end + NS for one in case.evidence.faults if one.name == REVOKE}
    return [post for post in case.evidence.posts if post.asked > out.get(post.client, post.asked)]


def answers_fit(case: Case) -> Iterator[Finding]:
    """What is good is accepted, or declined for now; what is wrong is refused; no row is stray."""
    revoked = {one.target for one in case.evidence.faults if one.name == REVOKE}
    for post in case.evidence.posts:
        out = post.client in revoked and post.problem in _OUT
        if not out and (why := _misfit(post)) is not None:
            yield Finding("unexpected", post.marker, why)
    for message in case.fates.expected("deliver"):
        for row in message.rows:
            if row.status == "failed" and row.message_id not in message.promised:
                yield Finding("unexpected", row.message_id, f"no poison, and {_state(row)}")
    for stray in case.fates.stray:
        yield Finding("unexpected", *stray)


def harness_mends(case: Case) -> Iterator[Finding]:
    """What the harness began it has ended, and nothing of its own went wrong."""
    for what, target, why in case.evidence.undone:
        yield Finding("unexpected", target, f"{what}: {why}")


def _misfit(post: Post) -> str | None:
    if post.status == 500:
        return "answered 500"
    if post.expect == "refuse":
        fits = post.status is None or post.outcome in (REFUSED, DECLINED)
        return None if fits else f"wrong, and answered {post.status}"
    return f"good, and refused: {post.problem}" if post.outcome == REFUSED else None


def _state(row: Row) -> str:
    return f"{row.status} ({row.reason})" if row.reason else row.status


def _told_accepted(case: Case) -> int:
    return sum(len(message.promised) for message in case.fates.messages.values())


def _turned_away(case: Case) -> int:
    return sum(post.status in (429, 503) for post in case.evidence.posts)


PROMISES = {
    "I1": Promise(
        "No acknowledged message is lost", not_lost, _told_accepted, "ids that clients were told"
    ),
    "I2": Promise(
        "Effectively once",
        one_effect,
        lambda case: len(case.evidence.transitions),
        "changes of rows",
    ),
    "I3": Promise(
        "Never only in a process's memory",
        in_time_after_a_death,
        lambda case: len(case.fates.rows),
        "rows",
    ),
    "I4": Promise(
        "A retry never blocks",
        retries_block_nobody,
        lambda case: len(waits_beside_retries(case)),
        "deliveries beside waiting retries",
    ),
    "I5": Promise("Every message ends", all_end, lambda case: len(case.fates.rows), "rows"),
    "I8": Promise(
        "Revoked means out",
        revoked_is_out,
        lambda case: len(_after_revocation(case)),
        "posts of revoked clients",
    ),
    "I11": Promise(
        "Full means back-pressure", full_is_said, _turned_away, "posts that were turned away"
    ),
    "content": Promise(
        "What is shown is what was sent",
        shown_as_sent,
        lambda case: len(delivered_rows(case)),
        "delivered rows",
    ),
    "stores": Promise(
        "A store that is back is used again",
        both_stores_again,
        lambda case: sum(len(stretch) for stretch in calm_stretches(case)),
        "acceptances in calm",
    ),
    "answers": Promise(
        "Answers fit what was sent", answers_fit, lambda case: len(case.evidence.posts), "posts"
    ),
    "harness": Promise(
        "What the harness breaks it mends",
        harness_mends,
        lambda case: len(case.evidence.faults),
        "faults",
    ),
}
