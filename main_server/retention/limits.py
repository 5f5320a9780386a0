"""The objections to a deletion that is doubtful. Pure: each is a sentence for whoever runs it.

Clocks that disagree can't be argued with. All else can be confirmed by the code of what was shown,
even a day that both clocks agree on, since somebody may know what day it is.
"""

from datetime import datetime, timedelta

from gatepost.errors import GatepostError
from main_server.retention.plan import Plan
from main_server.retention.settings import Limits
from main_server.tenants.policy import Policies

CLOCKS_MAY_DIFFER = timedelta(minutes=5)
MUCH_SHORTER = 2
"""The factor by which a time must have shrunk to be much shorter than before."""


class ClockDoubted(GatepostError):
    """A clock is wrong: nothing was done."""


class Doubtful(GatepostError):
    """This is no usual night: nothing was done."""


def demand_sane(ours: datetime, ledgers: datetime) -> None:
    if abs(ours - ledgers) > CLOCKS_MAY_DIFFER:
        raise ClockDoubted(
            f"This machine says {ours:%Y-%m-%d %H:%M} UTC, the ledger's {ledgers:%Y-%m-%d %H:%M}."
            " Set the one that is wrong. Nothing was done."
        )


def out_of_step(last_run: datetime | None, now: datetime, limits: Limits) -> list[str]:
    """Return the objection if the last run is in the future or too long ago. The last run knew what
    day it was, whatever came of it: it had passed these limits. The lake doesn't, if the pipeline
    has gone by the same clock an hour ago, and caught up.

    This is asked even where nothing would go: what passes is what the next run is measured by.
    """
    if last_run is None:
        return []
    if last_run - now > CLOCKS_MAY_DIFFER:
        return [
            f"It is {now:%Y-%m-%d %H:%M} UTC, but the last run was at {last_run:%Y-%m-%d %H:%M}: a"
            " clock was ahead then, or is behind."
        ]
    if (now.date() - last_run.date()).days - 1 > limits.nights_behind:
        return [
            f"Today is {now.date()}, and the last run was on {last_run.date()}: a clock has jumped,"
            " or nights are missing (`gatepost retention status`)."
        ]
    return []


def objections(
    plan: Plan, policies: Policies, before: Policies | None, limits: Limits
) -> list[str]:
    """Return what is doubtful about the plan; `before` is what the last whole run went by."""
    return [
        *_too_many(plan, limits),
        *_too_far_ahead(plan, limits),
        *_much_shorter(plan, policies, before),
    ]


def restored_since(restored: datetime | None, last_run: datetime | None) -> list[str]:
    """Return the objection if the ledger was restored since the last run: what was set after the
    backup was made isn't in the ledger, and nothing in it says so."""
    if restored is None or (last_run is not None and restored <= last_run):
        return []
    return [
        f"The ledger was restored from a backup at {restored:%Y-%m-%d %H:%M} UTC: legal holds and"
        " days are those of the backup. Set again what was set since (`gatepost retention show`)."
    ]


def _too_many(plan: Plan, limits: Limits) -> list[str]:
    most = plan.messages_in_all * limits.most_percent / 100
    if plan.messages <= max(most, limits.few_messages):
        return []
    percent = 100 * plan.messages / plan.messages_in_all if plan.messages_in_all else 100
    return [
        f"{plan.messages} messages would go, {percent:.0f} % of all {plan.messages_in_all};"
        f" the limit is {limits.most_percent:g} % (retention.most_percent)."
    ]


def _too_far_ahead(plan: Plan, limits: Limits) -> list[str]:
    """Return the objection if the lake's last day is too long ago: the lake knows what day it was
    last night. Two clocks that ran ahead together don't. Days that are yet to come were published
    by a clock that ran ahead, and say nothing."""
    if not plan.parts:
        return []
    if plan.last_published is None:
        return ["Nothing was ever published: the nightly pipeline has not run."]
    if (plan.today - plan.last_published).days - 1 <= limits.nights_behind:
        return []
    return [
        f"Today is {plan.today}, and the last day in the lake is {plan.last_published}: a clock has"
        " jumped, or nights are missing (`gatepost analytics status`)."
    ]


def _much_shorter(plan: Plan, policies: Policies, before: Policies | None) -> list[str]:
    if before is None:
        return []
    found = []
    for client_id in sorted({part.client_id for part in plan.parts if part.goes}):
        was, now = before.days_of(client_id), policies.days_of(client_id)
        if now * MUCH_SHORTER < was:
            found.append(f"{client_id}: kept for {was} days until now, and now for {now}.")
    return found
