"""The story of one message, in words: what happened, what comes next, and why it is late. Pure.

It is told to people who wait for a message. So it begins with the answer, says times as they are
read (12 s ago, in 18 s), and says what isn't known rather than guess.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from gatepost.cli.words import ago, duration, plural
from gatepost.clock import from_ms
from gatepost.queue import Peeked, Place
from main_server.messages.reading.repository import Attempt, Row
from main_server.messages.repository import ATTEMPTS_KEPT

LATE_SECONDS = 5.0
"""Seconds of waiting after which a message is asked after."""

_ENDS = {
    "attempts_used": "every attempt that it was allowed was used",
    "refused": "the main server refused it for good",
    "expired": "its time was over before it could be delivered",
    "unreadable": "it can't be opened: it was altered on its way, or its key is no more",
    "discarded": "an administrator discarded it",
    "key_conflict": "its Idempotency-Key had been used for another message with another content",
}
_REFUSALS = {
    "key_unavailable": "a key that it needs can't be used just now",
    "unstorable": "the ledger could not store it",
}
UNREGISTERED = "unregistered"
"""The value in place of `accepted_by` where there is no row yet."""
_ACCEPTED = {
    "both": "into ledger and queue side by side: durability full, unless one of them took too long",
    "queue": "into the queue alone, durability queue; the ledger has it from there",
    "ledger": "into the ledger alone, durability ledger: the queue did not answer",
    UNREGISTERED: "into the queue alone, durability queue; the ledger hasn't got it yet",
}


class Kind(StrEnum):
    """The ways in which a step is shown."""

    DONE = "done"
    TROUBLE = "trouble"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened, or is to happen. `at` is None where nobody wrote the time down."""

    kind: Kind
    at: datetime | None
    what: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Paused:
    """A pause of a message's queue: since when; by whom and why, for those who may know."""

    since: datetime
    more: str = ""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The answer of the queue about a message; nothing, where Redis was not reached."""

    answered: bool
    peeked: Peeked | None = None
    paused: Paused | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """The story as it is told: `why` answers "why is it late?", the steps are what it stands on."""

    why: str
    steps: list[Step]


def tell(row: Row, attempts: Sequence[Attempt], where: Whereabouts, now: datetime) -> Told:
    """Tell a message's story; `now` is the ledger's kind of time: naive, UTC."""
    steps = [*_arrival(row), *_tries(attempts), *_end(row, attempts)]
    if row.status == "queued":
        steps.append(_next(row, where, now))
    return Told(_why(row, attempts, where, now), steps)


def reason_in_words(reason: str | None) -> str:
    """Say a reason in words. Reasons that a worker brings are words of its release; an unknown one
    is shown as it is."""
    if reason is None:
        return "nobody has written down why"
    return _ENDS.get(reason) or _REFUSALS.get(reason) or reason.replace("_", " ")


def _why(row: Row, attempts: Sequence[Attempt], where: Whereabouts, now: datetime) -> str:
    match row.status:
        case "queued":
            return " ".join([_waiting(row, where, now), *_so_far(row, attempts, now)])
        case "delivered":
            return _delivered(row, attempts)
        case "failed":
            return f"It was not delivered: {reason_in_words(row.reason)}.{_tried(row)}"
        case "duplicate":
            return (
                "It was not delivered, because it came under an Idempotency-Key that another"
                f" message has: see {_original(row)}."
            )
        case _:
            return "It was erased: nobody can read its body or its number any more."


def _waiting(row: Row, where: Whereabouts, now: datetime) -> str:
    if row.expires_at <= now:
        return f"Its time was over {ago(row.expires_at, now)}: it is about to fail as expired."
    if not where.answered:
        return "The queue does not answer, so nothing is delivered until Redis is back."
    if where.peeked is None or where.peeked.place is Place.DEAD:
        return _not_in_queue(row, now)
    if where.paused is not None and where.peeked.place is not Place.LEASED:
        return _held_up(where.paused, now)
    match where.peeked.place:
        case Place.LEASED:
            return f"A worker has it and is delivering it now: attempt {where.peeked.attempts}."
        case Place.DELAYED:
            what = "for its next attempt, which" if where.peeked.attempts else _UNTIL_WANTED
            return f"It waits {what} is due {_due(row, where, now)}."
        case Place.IN_LINE:
            return "It waits behind an earlier message of its ordering key."
        case _:
            return _ready(row, where.peeked, now)


_UNTIL_WANTED = "until its sender wants it delivered: it"


def _held_up(paused: Paused, now: datetime) -> str:
    return (
        f"Its queue is paused since {paused.since:%Y-%m-%d %H:%M:%S} UTC"
        f" ({ago(paused.since, now)}){paused.more}: nothing is delivered from it until it is"
        " resumed."
    )


def _ready(row: Row, peeked: Peeked, now: datetime) -> str:
    since = max(row.due_at, from_ms(peeked.enqueued_at))
    waited = (now - since).total_seconds()
    if waited < LATE_SECONDS:
        return "It is about to be delivered: it waits for the next free worker."
    return (
        f"It has waited for a worker for {duration(waited)}: the workers are stopped, can't reach"
        " the main server, or have more before it."
    )


def _not_in_queue(row: Row, now: datetime) -> str:
    if row.due_at > now:
        due = duration((row.due_at - now).total_seconds())
        return f"It is due in {due}: then a main server puts it into the queue."
    if (now - row.due_at).total_seconds() < LATE_SECONDS:
        return "It is on its way into the queue."
    return (
        "The ledger has it and the queue has lost it: a main server puts it back as soon as it"
        " comes by, within seconds."
    )


def _so_far(row: Row, attempts: Sequence[Attempt], now: datetime) -> Iterator[str]:
    if attempts and attempts[-1].outcome != "delivered":
        last = attempts[-1]
        yield (
            f"It was tried {_times(row.attempt_count)}; the last time, {ago(last.ended_at, now)},"
            f" {reason_in_words(last.reason)}."
        )
    if row.generation:
        yield f"It was redriven {_times(row.generation)}."


def _delivered(row: Row, attempts: Sequence[Attempt]) -> str:
    if row.delivered_at is None:
        return "It was delivered."
    failed = [one for one in attempts if one.outcome != "delivered"]
    since, of_what = row.created_at, "accepted"
    if row.due_at > since and not failed and not row.generation:
        since, of_what = row.due_at, "due"  # as its sender wanted
    took = (row.delivered_at - since).total_seconds()
    words = f"It was delivered {duration(took)} after it was {of_what}"
    if failed:
        return (
            f"{words}, at attempt {row.attempt_count}: the one before could not be finished, as"
            f" {reason_in_words(failed[-1].reason)}."
        )
    if row.generation:
        return f"{words}, after it was redriven {_times(row.generation)}."
    if took < LATE_SECONDS:
        return f"{words}."
    return (
        f"{words}. No attempt failed: until then it waited for a worker, or a worker lost it"
        " half-way."
    )


def _arrival(row: Row) -> Iterator[Step]:
    if row.client_timestamp is not None:
        yield Step(Kind.DONE, row.client_timestamp, "Sent", "by the sender's own clock")
    how = _ACCEPTED.get(row.accepted_by or "", "the ledger has it")
    yield Step(Kind.DONE, row.created_at, "Accepted", f"from {row.client_id}, {how}")
    if row.status != "duplicate":
        yield Step(Kind.DONE, row.queued_at, "Queued", f"in {row.queue}")


def _tries(attempts: Sequence[Attempt]) -> Iterator[Step]:
    before = 0
    for one in attempts:
        if one.attempt > before + 1 and before >= ATTEMPTS_KEPT:
            gap = f"Attempts {before + 1} to {one.attempt - 1}"
            yield Step(Kind.TROUBLE, None, gap, "of many, only the first and the last are kept")
        before = one.attempt
        took = duration((one.ended_at - one.started_at).total_seconds())
        if one.outcome == "delivered":
            yield Step(Kind.DONE, one.ended_at, f"Attempt {one.attempt}", "delivered")
        else:
            words = f"{reason_in_words(one.reason)}; it took {took}"
            yield Step(Kind.TROUBLE, one.started_at, f"Attempt {one.attempt}", words)


def _end(row: Row, attempts: Sequence[Attempt]) -> Iterator[Step]:
    match row.status:
        case "delivered":
            yield Step(Kind.DONE, row.delivered_at, "Delivered", f"at attempt {row.attempt_count}")
        case "failed":
            at = row.expires_at if row.reason == "expired" else None
            if attempts and attempts[-1].outcome == "failed":
                at = attempts[-1].ended_at
            yield Step(Kind.TROUBLE, at, "Failed", reason_in_words(row.reason))
        case "duplicate":
            yield Step(Kind.DONE, None, "Duplicate", f"of {_original(row)}")
        case "erased":
            yield Step(Kind.DONE, None, "Erased", "body and number are gone")


def _next(row: Row, where: Whereabouts, now: datetime) -> Step:
    if row.expires_at <= now:
        return Step(Kind.NEXT, row.expires_at, "Fails as expired")
    if where.peeked is not None and where.peeked.place is Place.LEASED:
        return Step(Kind.NEXT, None, f"Attempt {where.peeked.attempts}", "a worker has it now")
    left = duration((row.expires_at - now).total_seconds())
    expires = f"it may be tried for {left} more"
    return Step(Kind.NEXT, _due_at(row, where), "Next attempt", expires)


def _due(row: Row, where: Whereabouts, now: datetime) -> str:
    due = _due_at(row, where)
    return f"in {duration((due - now).total_seconds())}" if due > now else "now"


def _due_at(row: Row, where: Whereabouts) -> datetime:
    """Return when a message is due. The queue decides; the ledger hears of a retry, but need
    not."""
    due = where.peeked.due_at if where.peeked else None
    return from_ms(due) if due else row.due_at


def _tried(row: Row) -> str:
    return f" It was tried {_times(row.attempt_count)}." if row.attempt_count else ""


def _original(row: Row) -> str:
    return str(UUID(bytes=row.duplicate_of)) if row.duplicate_of else "another message"


def _times(count: int) -> str:
    return "once" if count == 1 else plural(count, "time")
