"""The work of `gatepost queue list|stats|peek`, and what they print."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.decoding import Undecodable
from gatepost.queue import Peeked, Queue, QueueError, Queues, Stats, connect
from gatepost.wire.envelope import decode
from main_server.commands.intake import opened, paused_in_words
from main_server.commands.queue.telling import (
    COLUMNS,
    cells_of,
    owners,
    peeked_document,
    peeked_line,
    queue_document,
)
from main_server.messages.queues.naming import Known, list_known, meant
from main_server.settings import StoresOnly
from main_server.tenants.pauses import service as pauses
from main_server.tenants.pauses.repository import Pause, What

T = TypeVar("T")
REDIS_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Looked:
    """The queues that are meant. Without the ledger nobody knows which are paused."""

    queues: Sequence[Known]
    pauses: Mapping[str, Pause] | None

    def state(self, name: str, now: datetime) -> str:
        if self.pauses is None:
            return "the ledger does not answer: whether it is paused is not known"
        found = self.pauses.get(name)
        return paused_in_words(found, now) if found else ""


def list_all(config: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, settings):
        looked = _look(engine, settings, None)
        found = ask_redis(settings, lambda queues: _stats_of(queues, looked.queues))
    rows = [(one, one.name, counted) for one, counted in zip(looked.queues, found, strict=True)]
    _show(output, looked, rows)


def stats(config: Path | None, name: str, *, json: bool) -> None:
    output = Output(json=json)
    with opened(config) as (engine, settings):
        looked = _look(engine, settings, name)
        found = ask_redis(settings, lambda queues: _stats_each_of(queues, looked.queues))
    rows = [
        (one, f"{one.name}/{number}", stats)
        for one, parts in zip(looked.queues, found, strict=True)
        for number, stats in enumerate(parts)
    ]
    _show(output, looked, rows)
    if not json:
        for _, place, counted in rows:
            waits = [f"{count} of priority {one}" for one, count in counted.ready.items() if count]
            if counted.alone:
                waits.append(f"{counted.alone} alone, since their leases were lost")
            output.say(f"{place}: {', '.join(waits) or 'none'} ready")


def peek(config: Path | None, name: str, limit: int, *, json: bool) -> None:
    output, now = Output(json=json), datetime.now(UTC)
    with opened(config) as (engine, settings):
        looked = _look(engine, settings, name)
        found = ask_redis(settings, lambda queues: _peek_into(queues, looked.queues, limit))
    for one, client in found[:limit]:
        if json:
            output.result(peeked_document(one, client))
        else:
            output.say(peeked_line(one, client, now))
    if not found and not json:
        output.say("Nothing waits there.")


def ask_redis(settings: StoresOnly, ask: Callable[[Queues], Awaitable[T]]) -> T:
    async def run() -> T:
        async with asyncio.timeout(REDIS_SECONDS), connect(settings.redis.address()) as redis:
            return await ask(Queues(redis, settings.redis.queue_name))

    try:
        return asyncio.run(run())
    except (QueueError, TimeoutError) as error:
        words = str(error).rstrip(".") or f"it took more than {REDIS_SECONDS:.0f} s"
        raise Failure("unavailable", f"Redis does not answer: {words}.") from None


def _look(engine: Engine, settings: StoresOnly, name: str | None) -> Looked:
    default = settings.redis.queue_name
    try:
        known = list_known(engine, default)
        paused = {one.name: one for one in pauses.list_all(engine, What.QUEUE)}
    except OperationalError:
        return Looked([Known(name or default)], None)
    return Looked(known if name is None else meant(known, name), paused)


async def _stats_of(queues: Queues, known: Iterable[Known]) -> list[Stats]:
    return [await queues.named(one.name).stats() for one in known]


async def _stats_each_of(queues: Queues, known: Iterable[Known]) -> list[list[Stats]]:
    return [await queues.named(one.name).stats_each() for one in known]


async def _peek_into(
    queues: Queues, known: Iterable[Known], limit: int
) -> list[tuple[Peeked, str | None]]:
    return [pair for one in known for pair in await _peek(queues.named(one.name), limit)]


async def _peek(queue: Queue, limit: int) -> list[tuple[Peeked, str | None]]:
    found = await queue.foremost(limit)
    payloads = await queue.payloads([one.id for one in found]) if found else []
    return [(one, _client_of(body)) for one, body in zip(found, payloads, strict=True)]


def _client_of(payload: bytes | None) -> str | None:
    """Return the client in the clear fields of an envelope; the sealed ones nobody opens here
    (I7)."""
    try:
        return None if payload is None else decode(payload).client_id
    except Undecodable:
        return None


def _show(output: Output, looked: Looked, rows: Sequence[tuple[Known, str, Stats]]) -> None:
    now = datetime.now(UTC)
    if output.json:
        for known, place, one in rows:
            output.result(queue_document(known, place, one, looked.pauses))
        return
    wide = max(len(place) for _, place, _ in rows)
    output.say((f"{'':<{wide}}  " + "  ".join(f"{name:>8}" for name in COLUMNS), "bold"))
    for known, place, one in rows:
        output.say(f"{place:<{wide}}  {cells_of(one)}  {owners(known)}")
        if state := looked.state(known.name, now):
            output.say((f"{'':<{wide}}  {state}", "yellow"))
