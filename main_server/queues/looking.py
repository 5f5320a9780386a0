"""What `gatepost queue list|stats|peek` do, and say."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import ago, duration, plural
from gatepost.clock import from_ms, iso
from gatepost.envelope import UNREADABLE, decode
from gatepost.queue import Peeked, Place, Queue, QueueError, Queues, Stats, connect
from main_server.pauses import service as pauses
from main_server.pauses.commands import opened, paused_in_words
from main_server.pauses.repository import Pause, What
from main_server.queues.naming import Known, list_known, meant
from main_server.settings import StoresOnly

T = TypeVar("T")
REDIS_SECONDS = 5.0
_COLUMNS = ("ready", "delayed", "leased", "in line", "dead", "exposed", "oldest")


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
    _show(
        output,
        looked,
        [(one, one.name, _sum) for one, _sum in zip(looked.queues, found, strict=True)],
    )


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
            waits = [f"{count} of {one}" for one, count in sorted(counted.ready.items()) if count]
            output.say(f"{place} ready by priority: {', '.join(waits) or 'none'}")


def peek(config: Path | None, name: str, limit: int, *, json: bool) -> None:
    output, now = Output(json=json), datetime.now(UTC)
    with opened(config) as (engine, settings):
        looked = _look(engine, settings, name)
        found = ask_redis(settings, lambda queues: _peek_into(queues, looked.queues, limit))
    for one, client in found[:limit]:
        if json:
            output.result(_peeked_document(one, client))
        else:
            output.say(_peeked_line(one, client, now))
    if not found and not json:
        output.say("Nothing waits there.")


def ask_redis(settings: StoresOnly, ask: Callable[[Queues], Awaitable[T]]) -> T:
    async def run() -> T:
        async with asyncio.timeout(REDIS_SECONDS), connect(settings.redis.address()) as redis:
            return await ask(Queues(redis, settings.redis.queue_name))

    try:
        return asyncio.run(run())
    except (QueueError, TimeoutError) as error:
        words = str(error) or f"it took more than {REDIS_SECONDS:.0f} s"
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
    """Of the clear fields of an envelope; what is sealed nobody opens here (I7)."""
    try:
        return None if payload is None else decode(payload).client_id
    except UNREADABLE:
        return None


def _show(output: Output, looked: Looked, rows: Sequence[tuple[Known, str, Stats]]) -> None:
    now = datetime.now(UTC)
    if output.json:
        for known, place, one in rows:
            output.result(_document(looked, known, place, one))
        return
    wide = max(len(place) for _, place, _ in rows)
    output.say((f"{'':<{wide}}  " + "  ".join(f"{name:>8}" for name in _COLUMNS), "bold"))
    for known, place, one in rows:
        figures = (_ready(one), one.delayed, one.leased, one.in_line, one.dead, one.exposed)
        oldest = duration(one.oldest_ms / 1000) if _ready(one) else "–"
        cells = "  ".join(f"{cell:>8}" for cell in (*figures, oldest))
        output.say(f"{place:<{wide}}  {cells}  {_owners(known)}")
        if state := looked.state(known.name, now):
            output.say((f"{'':<{wide}}  {state}", "yellow"))


def _document(looked: Looked, known: Known, place: str, one: Stats) -> dict[str, Any]:
    name = known.name
    pause = looked.pauses.get(name) if looked.pauses is not None else None
    paused = {"since": pause.since, "by": pause.actor, "reason": pause.reason} if pause else None
    return {
        "queue": name,
        "partition": int(place[len(name) + 1 :]) if place != name else None,
        "domains": list(known.domains),
        "left": known.left,
        "ready": _ready(one),
        "ready_by_priority": {str(p): count for p, count in one.ready.items() if count},
        "delayed": one.delayed,
        "leased": one.leased,
        "in_line": one.in_line,
        "dead": one.dead,
        "exposed": one.exposed,
        "oldest_ms": one.oldest_ms,
        "paused": paused,
        "ledger_answers": looked.pauses is not None,
    }


def _ready(stats: Stats) -> int:
    return sum(stats.ready.values())


def _owners(known: Known) -> str:
    if len(known.domains) > 1:
        return f"shared by {plural(len(known.domains), 'domain')}"
    return f"{known.domain or 'nobody’s'}{', left' if known.left else ''}"


def _peeked_document(one: Peeked, client: str | None) -> dict[str, Any]:
    times = {"enqueued_at": one.enqueued_at, "due_at": one.due_at, "expires_at": one.expires_at}
    return {
        "message_id": str(UUID(bytes=one.id)),
        "client_id": client,
        "place": one.place.value,
        "priority": one.priority,
        "attempts": one.attempts,
        "generation": one.generation,
        "leased_until": iso(one.leased_until) if one.leased_until else None,
        **{name: iso(ms) if ms else None for name, ms in times.items()},
    }


def _peeked_line(one: Peeked, client: str | None, now: datetime) -> str:
    words = [f"{one.place.value:<8}", str(UUID(bytes=one.id)), client or "unreadable"]
    words.append(f"priority {one.priority}, {plural(one.attempts, 'attempt')}")
    words.append(f"here since {_when(one.enqueued_at, now)}")
    if one.place is Place.DELAYED and one.due_at:
        words.append(f"due {_when(one.due_at, now)}")
    if one.place is Place.LEASED and one.leased_until:
        words.append(f"lease ends {_when(one.leased_until, now)}")
    if one.expires_at:
        words.append(f"expires {_when(one.expires_at, now)}")
    return "  ".join(words)


def _when(ms: int, now: datetime) -> str:
    return ago(from_ms(ms).replace(tzinfo=UTC), now)
