"""The proof: nothing is left past its day. No message, no key, and no copy that still opens.

It goes by what there is, not by what runs say that they have done. What a hold keeps, and what
was begun anew by a redrive, is no fault; what was never sealed is.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta

from sqlalchemy import Connection, Engine

from main_server.database import transact
from main_server.keys.backup.content import read_backup, sealing_of
from main_server.keys.master import MasterKeys
from main_server.retention.days import day_of, span_of
from main_server.retention.holds import repository as holds
from main_server.retention.plan import Part, Plan, make_plan
from main_server.retention.policy import Policies
from main_server.retention.rows import repository as rows
from main_server.settings import Keys


@dataclass(frozen=True, slots=True)
class Proof:
    """`left` is what should be gone, in words; `kept` what may stay, and why."""

    as_of: date
    left: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.left


def prove(engine: Engine, masters: MasterKeys, settings: Keys, as_of: date) -> Proof:
    """As of a day: what was due when it began."""

    def work(connection: Connection) -> tuple[Policies, Plan, list[str]]:
        policies = holds.read_policies(connection)
        plan = make_plan(connection, policies, as_of)
        return policies, plan, _beside(connection, plan, as_of)

    policies, plan, left = transact(engine, work)
    for part in plan.parts:
        left += _left_of(part)
    left += _in_backup(masters, settings, policies, plan)
    kept = [f"{client_id} is on legal hold" for client_id in plan.held]
    kept += [
        f"{part.client_id} {part.day}: {part.waiting} redriven, and not at their end"
        for part in plan.parts
        if part.waiting
    ]
    return Proof(as_of, left, kept)


def _left_of(part: Part) -> list[str]:
    ended, why = part.count - part.waiting, "" if part.sealed else " (the day was never sealed)"
    messages = [f"{ended} messages{why}"] if ended else []
    data_keys = [f"{part.keys} data keys"] if part.keys and not part.waiting else []
    return [f"{part.client_id} {part.day}: {what}" for what in messages + data_keys]


def _beside(connection: Connection, plan: Plan, as_of: date) -> list[str]:
    """What belongs to messages: claims on keys, attempts; and the lake's own days."""
    left = []
    for part in plan.parts:
        if not part.waiting and rows.has_claims(connection, part.client_id, span_of(part.day)):
            left.append(f"{part.client_id} {part.day}: claims on Idempotency-Keys")
    attempt, message = rows.first_attempt(connection), rows.first_message(connection)
    if attempt and message and day_of(attempt) < day_of(message):
        left.append(f"attempts of {day_of(attempt)}, of which there is no message")
    day_before = as_of - timedelta(days=1)  # the lake's turn comes with the pipeline's own night
    left += [f"the lake's folder of {day}" for day in plan.lake_folders if day < day_before]
    return left


def _in_backup(masters: MasterKeys, settings: Keys, policies: Policies, plan: Plan) -> list[str]:
    """Of keys that the ledger hasn't any more: whatever opens a message is a copy of it."""
    if settings.backup_file is None or not settings.backup_file.exists():
        return []
    content = read_backup(sealing_of(settings, masters), settings.backup_file)
    there = {part.pair for part in plan.parts if part.keys}
    due = {
        one.key.pair
        for one in content.data_keys
        if policies.is_due(one.key.client_id, one.key.day, plan.today)
    }
    return [
        f"{client_id} {day}: its key is in the key backup" for client_id, day in sorted(due - there)
    ]
