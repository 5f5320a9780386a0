"""The work of `gatepost retention run` and `gatepost retention prove`, and what they print."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path

from sqlalchemy import Connection

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import plural
from gatepost.config.settings import load
from gatepost.errors import ConfigurationError
from gatepost.safety import forbid_core_dumps
from main_server.commands.ca_opening import actor
from main_server.commands.failures import in_words
from main_server.keys import repository as keys
from main_server.keys.alone import Busy
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.retention import metrics
from main_server.retention import prove as proving
from main_server.retention import run as running
from main_server.retention import run_repository as runs
from main_server.retention.limits import CLOCKS_MAY_DIFFER
from main_server.retention.patience import InTheWay
from main_server.retention.plan import Plan
from main_server.retention.prove import Proof
from main_server.retention.run import AnotherRuns, Done, Foreseen, Place
from main_server.retention.run_repository import Run
from main_server.retention.settings import RetentionOnly
from main_server.store.database import open_ledger, transact
from main_server.tenants import hold_repository as holds
from main_server.tenants.policy import Policies, from_text

A_NIGHT = timedelta(hours=26)
_LINES = 60


def run(config: Path | None, confirmed: str | None, *, dry_run: bool, json: bool) -> None:
    output, begun = Output(json=json), time.monotonic()
    with _opened(config) as place:
        if dry_run:
            _show_plan(output, running.foresee(place))
            return
        folder = place.limits.metrics_folder
        try:
            done = running.run(place, confirmed)
        except Exception:
            metrics.tell_failure(folder)
            raise
        metrics.tell_run(folder, done, time.monotonic() - begun)
    _show_done(output, done)
    _demand(done.proof)


def prove(config: Path | None, *, json: bool) -> None:
    """Prove that nothing was left past its day as of the last whole run: the next run takes away
    what has come due since."""
    output = Output(json=json)
    with _opened(config) as place:
        behind = transact(place.engine, is_behind)
        last = None if behind else transact(place.engine, runs.last_done)
        as_of = (last.started_at if last else place.now).date()
        went_by = transact(place.engine, partial(_went_by, run=last)) if last else None
        proof = proving.prove(place.engine, place.masters, place.keys, as_of, went_by)
        metrics.tell_proof(place.limits.metrics_folder, proof)
    if json:
        document = {"as_of": str(as_of), "left": proof.left, "kept": proof.kept}
        output.result({**document, "unseen": proof.unseen})
    else:
        _show_proof(output, proof)
        if proof.holds:
            output.say(f"Nothing is left past its day, as of {as_of}.")
    _demand(proof)
    if behind:
        raise Failure("fault", behind)


def is_behind(connection: Connection) -> str | None:
    """Return why the outcome of the last run can't be relied on; None if it can."""
    latest, done = runs.latest_runs(connection, 1), runs.last_done(connection)
    if done is None:
        return "There was no whole run yet."
    now = keys.read_time(connection)
    if done.started_at - now > CLOCKS_MAY_DIFFER:
        at = f"{done.started_at:%Y-%m-%d %H:%M}"
        return f"The last whole run says {at}: a clock was ahead then, or is behind."
    if now - done.started_at > A_NIGHT:
        return f"The last whole run was {done.started_at:%Y-%m-%d %H:%M}: a night is missing."
    if latest[0].state in ("failed", "interrupted"):
        return f"The last run has {latest[0].state}: {latest[0].reason}"
    return None


def _went_by(connection: Connection, run: Run) -> Policies:
    """Return the days that the run had, and the holds that were on when it began."""
    return holds.held_at(connection, from_text(run.policies), run.started_at)


@contextmanager
def _opened(config: Path | None) -> Iterator[Place]:
    forbid_core_dumps()
    with in_words("`gatepost retention status` shows what there is."), _later():
        settings = load(RetentionOnly, config)
        faults = settings.faults() if settings.environment == "production" else []
        if faults:
            raise ConfigurationError("not in production:\n" + "\n".join(faults))
        with open_ledger(settings.database, patient=True) as engine:
            yield Place(
                engine,
                MasterKeys(partial(read_master_keys, settings.keys.master_key_file)),
                settings.keys,
                settings.retention,
                actor(),
                datetime.now(UTC).replace(tzinfo=None),
            )


@contextmanager
def _later() -> Iterator[None]:
    """Turn errors that may be gone another time into "unavailable", which is no refusal."""
    try:
        yield
    except (AnotherRuns, Busy, InTheWay) as error:
        raise Failure("unavailable", error.detail) from None


def _demand(proof: Proof) -> None:
    if not proof.holds:
        lines = [*proof.left[:_LINES], *(["…"] if len(proof.left) > _LINES else [])]
        words = f"{plural(len(proof.left), 'thing')} left past its day:\n  " + "\n  ".join(lines)
        raise Failure("fault", words, left=proof.left)


def _show_done(output: Output, done: Done) -> None:
    run = done.run
    if output.json:
        document = {"run": run.run_id, "state": run.state, "messages": run.row_count}
        more = {"keys": run.key_count, "partitions": run.partition_count, "held": done.plan.held}
        proof = {"left": done.proof.left, "unseen": done.proof.unseen}
        output.result({**document, **more, **proof})
        return
    counts = f"{plural(run.row_count, 'message')} and {plural(run.key_count, 'data key')} have gone"
    output.say(f"{counts}, {plural(run.partition_count, 'partition')} whole.")
    _show_proof(output, done.proof)
    if done.proof.holds:
        output.say("Nothing is left past its day.")


def _show_proof(output: Output, proof: Proof) -> None:
    for one in proof.kept:
        output.say(f"kept: {one}")
    for one in proof.unseen:
        output.say(one)


def _show_plan(output: Output, foreseen: Foreseen) -> None:
    plan = foreseen.plan
    if output.json:
        output.result(_document(foreseen))
        return
    for domain, parts in groupby(sorted(plan.parts, key=lambda one: one.pair), lambda p: p.domain):
        mine = list(parts)
        counts = f"{plural(sum(p.goes for p in mine), 'message')}"
        output.say(f"{domain}: {counts}, {plural(sum(p.keys_go for p in mine), 'data key')}")
        for part in mine:
            stays = "" if part.sealed or not part.count else "  stays: the day is not sealed"
            waits = f"  {part.waiting} wait" if part.waiting else ""
            output.say(f"  {part.day}  {part.client_id}  {part.goes}{stays}{waits}")
    _show_sums(output, plan)
    for one in foreseen.objections:
        output.say(f"Doubtful: {one}")
    if foreseen.objections:
        output.say(f"If this is meant: gatepost retention run --confirm {plan.code}")


def _show_sums(output: Output, plan: Plan) -> None:
    for one in plan.held:
        output.say(f"on legal hold, and stays: {one}")
    names = ", ".join(one.name for one in plan.whole) or "none"
    output.say(f"Partitions that go whole: {names}")
    counts = f"{plural(plan.messages, 'message')} and {plural(plan.keys, 'data key')}"
    output.say(f"{counts} would go, about {plan.bytes / 1e6:.1f} MB. Nothing was done.")
    if plan.lake_folders:
        days = ", ".join(str(day) for day in plan.lake_folders)
        output.say(f"From the lake, with the pipeline's next night: {days}")


def _document(foreseen: Foreseen) -> dict[str, object]:
    plan = foreseen.plan
    return {
        "today": str(plan.today),
        "messages": plan.messages,
        "keys": plan.keys,
        "bytes": plan.bytes,
        "partitions": [one.name for one in plan.whole],
        "lake_folders": [str(day) for day in plan.lake_folders],
        "held": plan.held,
        "parts": [
            {
                **asdict(part),
                "day": str(part.day),
                "domain": part.domain,
                "goes": part.goes,
                "keys_go": part.keys_go,
            }
            for part in plan.parts
        ],
        "objections": foreseen.objections,
        "code": plan.code,
    }
