"""The work of `gatepost queue purge`, and what it prints."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import typer
from sqlalchemy import Connection, Engine

from gatepost.cli.failure import EXIT_OF_KIND, Failure
from gatepost.cli.output import Output, Part
from gatepost.cli.words import plural
from gatepost.clock import to_ms
from gatepost.decoding import Undecodable
from gatepost.errors import NotFound
from gatepost.ids import first_id_at
from gatepost.queue import Queues
from gatepost.wire.envelope import decode
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.commands.ca_opening import actor, confirm
from main_server.commands.intake import now_of, opened
from main_server.commands.queue.looking import ask_redis
from main_server.messages.failed.repository import MOST_COUNTED
from main_server.messages.in_state import START
from main_server.messages.queues import discarding
from main_server.messages.queues.discarding import Step
from main_server.messages.queues.naming import Known, checked_client, list_known, meant
from main_server.messages.queues.repository import Selection
from main_server.settings import StoresOnly
from main_server.store.database import transact
from main_server.tenants.pauses.service import Order, said

MOST_LOOKED_AT = 10_000
"""The most messages looked at in a partition, of those that only Redis has."""


@dataclass(frozen=True, slots=True)
class Given:
    name: str
    reason: str
    client: str | None


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome: how many messages waited, how many were discarded, how many of these Redis
    wasn't told of; and how many Redis has alone, if it says so."""

    expected: int
    ended: int
    unheard: int
    exposed: int | None

    @property
    def missed(self) -> int:
        """The messages that were delivered, failed or erased between the question and the answer.
        Where there were too many to count, it is at least this number."""
        return max(0, self.expected - self.ended)


def purge(config: Path | None, given: Given, *, dry_run: bool, yes: bool, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, settings):
        now = now_of(engine)
        order = Order(actor(), given.reason, now)
        said(order)
        known = list_known(engine, settings.redis.queue_name)
        selection = _selection(known, given, now)
        expected, ended, unheard = discarding.count(engine, selection), 0, 0
        if dry_run:
            _tell_count(output, expected)
            return
        if expected:
            question = f"Discard {_count(expected)} of {given.name}? Nobody will get them."
            confirm(question, yes=yes)
            with output.busy("Discarding"):
                ended, unheard = _discard(engine, settings, selection, order)
        exposed = None if unheard else _exposed(settings, known, selection)
    _tell_end(output, Done(expected, ended, unheard, exposed))


def forget_dead(config: Path | None, given: Given, *, dry_run: bool, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, settings):
        order = Order(actor(), given.reason, now_of(engine))
        said(order)
        queues = meant(list_known(engine, settings.redis.queue_name), given.name)
        if not dry_run:
            transact(engine, lambda connection: _note(connection, queues, order))
        forgotten = ask_redis(settings, partial(_forget_dead, known=queues, dry_run=dry_run))
    if json:
        output.result({"dry_run": dry_run, "forgotten": forgotten})
    else:
        verb = "would be forgotten" if dry_run else "forgotten"
        output.say(f"{plural(forgotten, 'dead letter')} {verb}. The ledger keeps why each failed.")


def _selection(known: list[Known], given: Given, now: datetime) -> Selection:
    """Return what is meant: a domain's own messages, whatever queue they wait in; or all that wait
    in a queue."""
    end, client = first_id_at(to_ms(now)), checked_client(given.client)
    if any(one.name == given.name for one in known):
        return Selection(end, queue=given.name, client_id=client)
    if any(given.name in one.domains for one in known):
        return Selection(end, domain=given.name, client_id=client)
    raise NotFound(f"There is neither a queue nor a domain called {given.name}.")


def _discard(
    engine: Engine, settings: StoresOnly, selection: Selection, order: Order
) -> tuple[int, int]:
    """Discard what was selected; return how many have ended, and of how many Redis wasn't told."""
    step, ended, unheard = Step(START), 0, 0
    while step.place is not None:
        step = discarding.discard_some(engine, selection, order, step.place)
        ended += step.count
        if unheard or not _forget(settings, step):
            unheard += step.count
    return ended, unheard


def _forget(settings: StoresOnly, step: Step) -> bool:
    async def remove(queues: Queues) -> None:
        for name, ids in step.ids.items():
            await queues.named(name).remove(ids)

    if not step.ids:
        return True
    try:
        ask_redis(settings, remove)
    except Failure:
        return False
    return True


def _exposed(settings: StoresOnly, known: list[Known], selection: Selection) -> int | None:
    """Count the messages that are in Redis alone, and so have not ended: they get their rows within
    seconds. Return None if Redis doesn't answer: what was discarded is to be told all the same."""
    names = [one.name for one in known if selection.queue in (None, one.name)]

    async def count(asked: Queues) -> int:
        found = [one for name in names for one in await asked.named(name).exposed(MOST_LOOKED_AT)]
        return sum(_is_meant(selection, one.payload) for one in found)

    try:
        return ask_redis(settings, count)
    except Failure:
        return None


def _is_meant(selection: Selection, payload: bytes) -> bool:
    """Return whether a message is meant, by the clear fields of its envelope; one that can't be
    read is nobody's."""
    try:
        envelope = decode(payload)
    except Undecodable:
        return selection.domain is selection.client_id is None
    domain, client = selection.domain, selection.client_id
    return domain in (None, envelope.domain) and client in (None, envelope.client_id)


async def _forget_dead(queues: Queues, known: list[Known], *, dry_run: bool) -> int:
    named = [queues.named(one.name) for one in known]
    if dry_run:
        return sum([(await one.stats()).dead for one in named])
    return sum([await one.forget_dead() for one in named])


def _note(connection: Connection, queues: list[Known], order: Order) -> None:
    for one in queues:
        details = {"reason": said(order)}
        entry = Entry(order.actor, "queue.dead_forgotten", one.name, one.domain, details)
        audit.append(connection, entry, order.now)


def _tell_count(output: Output, expected: int) -> None:
    if output.json:
        output.result({"dry_run": True, "expected": expected})
    elif expected:
        output.say(f"{_count(expected)} would be discarded.")
    else:
        output.say("Nothing waits there by the ledger.")


def _tell_end(output: Output, done: Done) -> None:
    if output.json:
        told = {"expected": done.expected, "discarded": done.ended, "had_ended": done.missed}
        output.result(told | {"redis_not_told_of": done.unheard, "exposed": done.exposed})
    else:
        for words in _in_words(done):
            output.say(words)
    if done.unheard:
        count = plural(done.unheard, "message")
        words = f"Redis was not told of {count}: workers drop what they meet."
        typer.echo(f"gatepost: {words}", err=True)
        raise typer.Exit(EXIT_OF_KIND["unheard"])


def _in_words(done: Done) -> Iterator[Part]:
    if done.expected:
        yield f"{plural(done.ended, 'message')} discarded; the audit log names each."
    else:
        yield "Nothing waits there by the ledger."
    if done.missed:
        yield f"{plural(done.missed, 'message')} had ended by then: delivered, failed or erased."
    if done.exposed:
        words = "in Redis alone until the ledger has them, within seconds: run it again then."
        yield (f"{plural(done.exposed, 'message')} {words}", "yellow")


def _count(expected: int) -> str:
    more = " or more" if expected >= MOST_COUNTED else ""
    return f"{plural(expected, 'message')} that {'waits' if expected == 1 else 'wait'}{more}"
