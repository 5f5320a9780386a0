"""A queue, and a message in it, as lines for people and as documents for scripts. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from gatepost.cli.words import ago, duration, plural
from gatepost.clock import from_ms, iso
from gatepost.queue import Peeked, Place, Stats
from main_server.messages.queues.naming import Known
from main_server.tenants.pauses.repository import Pause

COLUMNS = ("ready", "delayed", "leased", "in line", "dead", "exposed", "oldest")


def cells_of(one: Stats) -> str:
    """Return a queue's figures as cells under the columns."""
    figures = (one.reservable, one.delayed, one.leased, one.in_line, one.dead, one.exposed)
    oldest = duration(one.oldest_ms / 1000) if one.reservable else "–"
    return "  ".join(f"{cell:>8}" for cell in (*figures, oldest))


def queue_document(
    known: Known, place: str, one: Stats, pauses: Mapping[str, Pause] | None
) -> dict[str, Any]:
    name = known.name
    pause = pauses.get(name) if pauses is not None else None
    paused = {"since": pause.since, "by": pause.actor, "reason": pause.reason} if pause else None
    return {
        "queue": name,
        "partition": int(place[len(name) + 1 :]) if place != name else None,
        "domains": list(known.domains),
        "left": known.left,
        "ready": one.reservable,
        "ready_by_priority": {str(p): count for p, count in one.ready.items() if count},
        "ready_alone": one.alone,
        "delayed": one.delayed,
        "leased": one.leased,
        "in_line": one.in_line,
        "dead": one.dead,
        "exposed": one.exposed,
        "oldest_ms": one.oldest_ms,
        "paused": paused,
        "ledger_answers": pauses is not None,
    }


def owners(known: Known) -> str:
    if len(known.domains) > 1:
        return f"shared by {plural(len(known.domains), 'domain')}"
    return f"{known.domain or 'no domain’s'}{', left' if known.left else ''}"


def peeked_document(one: Peeked, client: str | None) -> dict[str, Any]:
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


def peeked_line(one: Peeked, client: str | None, now: datetime) -> str:
    words = [f"{one.place.value:<8}", str(UUID(bytes=one.id)), client or "unreadable"]
    words.append(f"priority {one.priority}, {plural(one.attempts, 'attempt')}")
    waited = (now - from_ms(one.enqueued_at).replace(tzinfo=UTC)).total_seconds()
    words.append(f"here for {duration(waited)}")
    if one.place is Place.DELAYED and one.due_at:
        words.append(f"due {_when(one.due_at, now)}")
    if one.place is Place.LEASED and one.leased_until:
        words.append(f"lease ends {_when(one.leased_until, now)}")
    if one.expires_at:
        words.append(f"expires {_when(one.expires_at, now)}")
    return "  ".join(words)


def _when(ms: int, now: datetime) -> str:
    return ago(from_ms(ms).replace(tzinfo=UTC), now)
