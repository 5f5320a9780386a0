"""A night of retention, from the lock to the proof.

    partitions that may go whole → rows elsewhere → their keys → the key backup → the proof

It may be killed anywhere: what is gone is gone whole, what isn't is found again by the next run,
and both together leave what one would have left (I13). Keys go after the rows: as long as a message
is there it can be read, and once its key is gone no copy of it can.
"""

import os
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection, Engine

from gatepost.errors import GatepostError
from main_server.keys import repository as keys
from main_server.keys.alone import alone
from main_server.keys.backup.standing import renew_backup
from main_server.keys.master import MasterKeys
from main_server.retention import run_repository as runs
from main_server.retention.deleting import delete_orphans, delete_part
from main_server.retention.ending import destroy_keys
from main_server.retention.limits import (
    CLOCKS_MAY_DIFFER,
    Doubtful,
    demand_sane,
    objections,
    out_of_step,
    restored_since,
)
from main_server.retention.patience import Patience
from main_server.retention.plan import Plan, Whole, make_plan
from main_server.retention.prove import Proof, prove
from main_server.retention.run_repository import Run
from main_server.retention.settings import Limits
from main_server.retention.telling import end_interrupted, end_run
from main_server.retention.whole import drop_whole, left_over
from main_server.settings import Keys
from main_server.store.database import transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.policy import Policies, from_text, last_due

LOCK = "gatepost.retention"
RUNS_ARE_KEPT = timedelta(days=400)
FORGOTTEN_AT_ONCE = 100


class AnotherRuns(GatepostError):
    """Another run of retention is under way. `gatepost retention status` shows it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The things that a run works with. `now` is this machine's time."""

    engine: Engine
    masters: MasterKeys
    keys: Keys
    limits: Limits
    actor: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The plan, and the objections to it. `now` is the earlier of both clocks' times: the plan is
    for its day."""

    now: datetime
    plan: Plan
    policies: Policies
    objections: list[str]


@dataclass(frozen=True, slots=True)
class Done:
    run: Run
    plan: Plan
    proof: Proof


def foresee(place: Place) -> Foreseen:
    """Make the dry run, which writes nothing; raise ClockDoubted if a clock is wrong."""

    def work(connection: Connection) -> Foreseen:
        ledgers = keys.read_time(connection)
        demand_sane(place.now, ledgers)
        now = min(place.now, ledgers)
        policies = holds.read_policies(connection)
        policies.demand_allowed()
        plan = make_plan(connection, policies, now.date())
        latest, done = runs.latest_runs(connection, 1), runs.last_done(connection)
        before = from_text(done.policies) if done else None
        against = out_of_step(latest[0].started_at if latest else None, now, place.limits)
        restored = runs.last_restored(connection)
        against += restored_since(restored, done.started_at if done else None)
        against += objections(plan, policies, before, place.limits)
        return Foreseen(now, plan, policies, against)

    return transact(place.engine, work)


def run(place: Place, confirmed: str | None = None) -> Done:
    """Take away what is due. `confirmed` is the code of what was foreseen. Raise Doubtful, InTheWay
    or AnotherRuns."""
    with alone(place.engine, LOCK, AnotherRuns):
        for interrupted in transact(place.engine, runs.interrupted_runs):
            end_interrupted(place.engine, interrupted)
        foreseen = foresee(place)
        if foreseen.objections and confirmed != foreseen.plan.code:
            raise Doubtful(_asking(foreseen))
        return _run(place, foreseen)


def _run(place: Place, foreseen: Foreseen) -> Done:
    begun = _begin(place, foreseen)
    plan = foreseen.plan
    try:
        _take_away(place, begun.run_id, foreseen)
        proof = prove(place.engine, place.masters, place.keys, plan.today, foreseen.policies)
    except Exception as error:
        reason = error.detail if isinstance(error, GatepostError) else type(error).__name__
        end_run(place.engine, replace(begun, state="failed", reason=reason))
        raise
    state = "done" if proof.holds else "failed"
    ended = replace(begun, state=state, reason="\n".join(proof.left) or None)
    return Done(end_run(place.engine, ended), plan, proof)


def _begin(place: Place, foreseen: Foreseen) -> Run:
    """Begin the run's row. Once this run has begun, runs that were ahead of it have been confirmed
    away; the audit log keeps what they took."""
    now, policies = foreseen.now, foreseen.policies.text()
    run_id = f"{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
    begun = Run(run_id, "running", place.actor, now, None, 0, 0, 0, policies, None)

    def work(connection: Connection) -> None:
        runs.forget_ahead(connection, now + CLOCKS_MAY_DIFFER)
        runs.begin_run(connection, begun)

    transact(place.engine, work)
    old = now - RUNS_ARE_KEPT
    transact(place.engine, partial(runs.forget_old, before=old, limit=FORGOTTEN_AT_ONCE))
    return begun


def _take_away(place: Place, run_id: str, foreseen: Foreseen) -> None:
    engine, patience = place.engine, Patience(place.limits.wait_minutes * 60)
    plan, shortest = foreseen.plan, foreseen.policies.shortest
    for name in left_over(engine):
        drop_whole(engine, name, plan.today, patience)
    for whole in plan.whole:
        _drop(engine, run_id, plan, whole, patience)
    for part in plan.parts:
        delete_part(engine, run_id, part, plan.today, patience)
    delete_orphans(engine, last_due(shortest, plan.today), patience)
    with alone(engine):
        for part in plan.parts:
            if part.keys_go:
                destroy_keys(engine, run_id, part, plan.today, place.now)
        renew_backup(engine, place.masters, place.keys)


def _drop(engine: Engine, run_id: str, plan: Plan, whole: Whole, patience: Patience) -> None:
    """Drop a partition whole. What goes with it is counted before, and confirmed when it has
    gone."""
    counts = [(one.client_id, one.day, one.count) for one in plan.within(whole) if one.count]
    name = whole.name
    transact(engine, lambda connection: runs.foresee(connection, run_id, name, counts))
    dropped = drop_whole(engine, name, plan.today, patience)
    settle = runs.confirm if dropped else runs.forget
    transact(engine, lambda connection: settle(connection, run_id, name))


def _asking(foreseen: Foreseen) -> str:
    said = "\n".join(f"  {one}" for one in foreseen.objections)
    return (
        f"This is no usual night, and nothing was done:\n{said}\n"
        "Look at it: gatepost retention run --dry-run. If it is meant:"
        f" gatepost retention run --confirm {foreseen.plan.code}"
    )
