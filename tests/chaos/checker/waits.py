"""How long messages waited while nothing was wrong: what a death, or another's retry, cost them."""

from collections.abc import Iterator

from tests.chaos.checker.case import Case, Finding
from tests.chaos.checker.stretches import Calm, Stretch

LEASE_MARGIN_SECONDS = 3.0
"""A second to be available again, and two to be delivered."""
EARLY_SECONDS = 1.0
PROMPT_SECONDS, PROMPT_SHARE = 2.0, 0.99


def in_time_after_a_death(case: Case) -> Iterator[Finding]:
    """I3: what a process held is available again within its lease; so none waits for longer."""
    limit = case.evidence.lease_seconds + LEASE_MARGIN_SECONDS
    for row in case.fates.rows.values():
        if row.delivered_ms is None or row.message_id in case.evidence.retried:
            continue
        waited = case.calm.longest(row.queued_ms / 1000, row.delivered_ms / 1000)
        if waited > limit:
            yield Finding("late", row.message_id, f"waited {waited:.1f} s while nothing was wrong")
    for fault in case.evidence.faults:
        for message_id in fault.held:
            held = case.fates.rows.get(message_id)
            if held is not None and held.status == "delivered" and held.attempt_count < 2:
                yield Finding("unexpected", message_id, "its holder's death counts as no attempt")


def retries_block_nobody(case: Case) -> Iterator[Finding]:
    """I4: what was refused for now waits until it is due; others are delivered meanwhile."""
    for row in case.fates.rows.values():
        if row.delivered_ms is not None and row.message_id in case.evidence.retried:
            early = (row.due_ms - row.delivered_ms) / 1000
            if early > EARLY_SECONDS:
                yield Finding("early", row.message_id, f"delivered {early:.1f} s before it was due")
    waits = waits_beside_retries(case)
    late = [one for one in waits if one[1] > PROMPT_SECONDS]
    if len(late) > len(waits) * (1 - PROMPT_SHARE):
        for message_id, waited in late:
            yield Finding("held up", message_id, f"waited {waited:.1f} s beside waiting retries")


def waits_beside_retries(case: Case) -> list[tuple[str, float]]:
    """How long those waited, in calm, that were accepted while others waited for a retry."""
    no_retry = Calm(_retry_waits(case))
    found = []
    for row in case.fates.rows.values():
        if row.delivered_ms is None or row.message_id in case.evidence.retried:
            continue
        begin, end = row.queued_ms / 1000, row.delivered_ms / 1000
        calm = next(case.calm.within(begin, max(end, begin + 0.001)), None)
        if no_retry.is_calm(begin) or calm is None or calm.begin > begin:
            continue
        found.append((row.message_id, calm.end - calm.begin))
    return found


def _retry_waits(case: Case) -> Iterator[Stretch]:
    """For each message that was refused for now: from its first refusal to its delivery."""
    for message_id, spans in case.evidence.retried.items():
        row = case.fates.rows.get(message_id)
        if row is not None and row.delivered_ms is not None:
            yield Stretch(min(end for _, end in spans) / 1000, row.delivered_ms / 1000)
