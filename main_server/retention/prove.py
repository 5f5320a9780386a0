"""The proof that nothing is left past its day: no message, no key, and no copy that still opens.

It goes by what there is, not by what runs say that they have done. What a hold keeps, or a redrive
has begun anew, is no fault; what was never sealed is, and so is what has never ended (I5).
"""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial

from sqlalchemy import Connection, Engine

from main_server.keys import repository as keys
from main_server.keys.backup.content import Content, read_backup, sealing_of
from main_server.keys.destroyed_repository import list_destroyed
from main_server.keys.lifetimes import dies_at
from main_server.keys.master import MasterKeys
from main_server.keys.repository import Pair
from main_server.keys.service_keys import dead_among
from main_server.retention import row_repository as rows
from main_server.retention.days import span_of
from main_server.retention.plan import Part, Plan, make_plan
from main_server.settings import Keys
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.policy import Policies, due_by_both, last_due

_MAY_TAKE = timedelta(hours=1)
"""The time for which a sealing key may outlive its own: main servers destroy it, not retention."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome: `left` is what should be gone, in words; `kept` is what may stay, and why;
    `unseen` is where nobody looked."""

    as_of: date
    left: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.left


@dataclass(frozen=True, slots=True)
class _Sealing:
    """The sealing keys whose time was over at that moment: those that are still there, in words,
    and those that are on the list of the destroyed."""

    moment: datetime
    dead: dict[bytes, str]
    destroyed: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class _Ledger:
    """The ledger's answers, all of one moment. `due_by` is what the plan goes by."""

    policies: Policies
    due_by: Policies
    plan: Plan
    redriven: dict[Pair, int]
    beside: list[str]
    sealing: _Sealing


def prove(
    engine: Engine,
    masters: MasterKeys,
    settings: Keys,
    as_of: date,
    went_by: Policies | None = None,
) -> Proof:
    """Prove that nothing is left, as of a day: of what was due when that day began, both by what
    the run of that day went by and by what is set now. What has come due by a change since then is
    the next run's."""
    ledger = transact(engine, partial(_look, as_of=as_of, went_by=went_by))
    left, file = _left(ledger), settings.backup_file
    unseen: list[str] = []
    if file is None:
        unseen = ["no key backup was looked at: keys.backup_file isn't set"]
    elif not file.exists():
        unseen = [f"no key backup was looked at: there is no {file}"]
    else:
        left += _in_backup(read_backup(sealing_of(settings, masters), file), ledger)
    return Proof(as_of, left, _kept(ledger), unseen)


def _look(connection: Connection, as_of: date, went_by: Policies | None) -> _Ledger:
    policies = holds.read_policies(connection)
    due_by = due_by_both(policies, went_by) if went_by else policies
    plan = make_plan(connection, due_by, as_of)
    redriven = {
        part.pair: rows.count_redriven(connection, part.client_id, span_of(part.day))
        for part in plan.parts
        if part.waiting
    }
    beside = _beside(connection, plan, last_due(due_by.shortest, as_of))
    return _Ledger(policies, due_by, plan, redriven, beside, _look_at_sealing(connection))


def _beside(connection: Connection, plan: Plan, last: date) -> list[str]:
    """Return what is left of what belongs to messages: claims on keys, attempts; and the lake's own
    days."""
    left = []
    for part in plan.parts:
        if not part.waiting and rows.has_claims(connection, part.client_id, span_of(part.day)):
            left.append(f"{part.client_id} {part.day}: claims on Idempotency-Keys")
    for day in rows.days_with_attempts(connection, last):
        if rows.orphans(connection, span_of(day), 1):
            left.append(f"attempts of {day}, of which there is no message")
    day_before = plan.today - timedelta(days=1)  # the lake's turn is the pipeline's own night
    left += [f"the lake's folder of {day}" for day in plan.lake_folders if day < day_before]
    return left


def _look_at_sealing(connection: Connection) -> _Sealing:
    """Return the sealing keys whose time is over. They open what lay in Redis, of which copies are
    left in old files."""
    moment = keys.read_time(connection) - _MAY_TAKE
    dead = {}
    for key in dead_among(keys.list_service_keys(connection), moment):
        assert key.retired_at is not None
        dies = dies_at(key.created_at, key.retired_at)
        dead[key.kid] = f"should have been destroyed {dies:%Y-%m-%d %H:%M}, by a main server"
    destroyed = frozenset(
        one.kid
        for one in list_destroyed(connection)
        if one.kind == "sealing" and one.destroyed_at <= moment
    )
    return _Sealing(moment, dead, destroyed)


def _left(ledger: _Ledger) -> list[str]:
    left = list(ledger.beside)
    for part in ledger.plan.parts:
        left += _left_of(part, ledger.redriven.get(part.pair, 0))
    return left + [f"sealing key {kid.hex()}: {why}" for kid, why in ledger.sealing.dead.items()]


def _left_of(part: Part, redriven: int) -> list[str]:
    ended, stuck = part.count - part.waiting, part.waiting - redriven
    why = "" if part.sealed else " (the day was never sealed)"
    left = [f"{ended} messages{why}"] if ended else []
    left += [f"{stuck} messages that have never ended{why}"] if stuck else []
    left += [f"{part.keys} data keys"] if part.keys and not part.waiting else []
    return [f"{part.client_id} {part.day}: {what}" for what in left]


def _kept(ledger: _Ledger) -> list[str]:
    held = [
        f"{client_id} is on legal hold"
        if ledger.policies.is_held(client_id)
        else f"{client_id} was on legal hold: what it kept goes with the next run"
        for client_id in ledger.plan.held
    ]
    redriven = [
        f"{client_id} {day}: {count} redriven, and not at their end"
        for (client_id, day), count in ledger.redriven.items()
        if count
    ]
    return held + redriven


def _in_backup(content: Content, ledger: _Ledger) -> list[str]:
    """Return the keys in the backup that the ledger doesn't have any more: a key that still opens a
    message is a copy of it."""
    there = {part.pair for part in ledger.plan.parts if part.keys}
    due = {
        one.key.pair
        for one in content.data_keys
        if ledger.due_by.is_due(one.key.client_id, one.key.day, ledger.plan.today)
    }
    sealing, copies = ledger.sealing, [one.key for one in content.service_keys]
    dead = {key.kid for key in dead_among(copies, sealing.moment)}
    over = {key.kid for key in copies if key.kid in dead | sealing.destroyed} - set(sealing.dead)
    left = [f"{client_id} {day}: its key" for client_id, day in sorted(due - there)]
    left += [f"sealing key {kid.hex()}: it" for kid in sorted(over)]
    return [f"{one} is in the key backup" for one in left]
