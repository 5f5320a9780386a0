"""Redriving and discarding failed messages, for an administrator; each is in the audit log.

A redrive changes the ledger alone: what says `queued` there and isn't in the queue is put there by
the reconciler, whatever happens in between (I1, I5). A message that was redriven has a life of its
own: a later generation, due now, with the usual time until it expires.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import FieldError, Invalid, NotFound
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.keys.data_keys import day_of, hold_days
from main_server.keys.lifetimes import MAX_LIFETIME
from main_server.messages.failed import repository
from main_server.messages.failed.repository import LASTING, Redrive, Selection, Standing
from main_server.messages.in_state import START, Place
from main_server.messages.reading.scope import Asked, domain_within
from main_server.people.users.viewer import Viewer
from main_server.reasons import checked_words, demanded_words
from main_server.store.database import transact

MOST = 200
"""The most messages that are named one by one."""
RATES = range(1, 501)
"""Messages a second: each second's are one transaction."""
TRIED_AGAIN = timedelta(minutes=1)
"""The time after which a redrive is tried again whose turn failed."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order to redrive: what somebody wants redriven, how fast, and why, where they say so."""

    selection: Selection
    rate_per_second: int
    why: str = ""


def count(engine: Engine, selection: Selection) -> int:
    """Count what would be redriven: the dry run."""
    return transact(engine, lambda c: repository.count_redrivable(c, selection))


def start(engine: Engine, actor: str, order: Order, redrive_id: UUID, now: datetime) -> Redrive:
    """Start a redrive, which the main servers do from here on, whichever of them runs."""
    if order.rate_per_second not in RATES:
        words = f"is from {RATES[0]} to {RATES[-1]} messages a second"
        raise Invalid(errors=[FieldError("/rate_per_second", words)])
    words = checked_words(order.why)

    def work(connection: Connection) -> Redrive:
        selection, moment = order.selection, from_ms(to_ms(now))
        begun = repository.find_redrive(connection, redrive_id.bytes, None)
        if begun is not None:  # this very call began it, and lost its connection at the commit
            return begun
        expected = repository.count_redrivable(connection, selection)
        if not expected:
            raise NotFound("No failed message that could be redriven is meant by this.")
        redrive = Redrive(
            redrive_id=redrive_id.bytes,
            domain=selection.domain or _domain_of(selection.client_id),
            client_id=selection.client_id,
            reason=selection.reason,
            first_id=selection.first_id,
            end_id=selection.end_id,
            rate_per_second=order.rate_per_second,
            expected=expected,
            state="running",
            next_at=moment,
            after_client=START.client_id,
            after_id=START.message_id,
            redriven=0,
            actor=actor,
            created_at=moment,
            ended_at=None,
        )
        repository.add_redrive(connection, redrive)
        details = {"expected": expected, "rate_per_second": order.rate_per_second}
        told = {"client_id": selection.client_id, "reason": selection.reason}
        why = {"why": words} if words else {}
        _note(connection, actor, "redrive.started", redrive, details | told | why, now)
        return redrive

    return transact(engine, work)


def stop(
    engine: Engine, actor: str, domain: str | None, redrive_id: UUID, now: datetime
) -> Redrive:
    """Stop a redrive: nothing more is redriven by it. One that has ended stays as it is. `domain`
    is the one that the asker is confined to."""

    def work(connection: Connection) -> Redrive:
        found = repository.find_redrive(connection, redrive_id.bytes, domain, lock=True)
        if found is None:
            raise NotFound()
        if found.state == "running":
            moment = from_ms(to_ms(now))
            repository.go_on(connection, found, state="stopped", ended_at=moment)
            details = {"redriven": found.redriven}
            _note(connection, actor, "redrive.stopped", found, details, now)
        changed = repository.find_redrive(connection, redrive_id.bytes, domain)
        assert changed is not None
        return changed

    return transact(engine, work)


def take_turn(engine: Engine, now: datetime) -> int | None:
    """Do a second's worth of one redrive, in one transaction; return None if none is due.

    The redrive is put off before it is tried: one whose turns fail lets the others have theirs.
    """
    redrive = transact(engine, lambda connection: _put_off(connection, now))
    if redrive is None:
        return None
    return transact(engine, lambda connection: _take_turn(connection, redrive, now))


def redrive_these(engine: Engine, viewer: Viewer, ids: Sequence[UUID], now: datetime) -> list[UUID]:
    """Redrive these messages at once; what isn't failed, can't be redriven or isn't the viewer's to
    administer is passed over."""
    _bound(ids)

    def work(connection: Connection) -> list[UUID]:
        places = repository.list_places(connection, [one.bytes for one in ids])
        meant = _administered(viewer, _lock_readable(connection, places))
        done = _queue_again(connection, meant, now)
        _note_each_domain(connection, viewer.actor, "message.redriven", done, {}, now)
        return [UUID(bytes=one.message_id) for one in done]

    return transact(engine, work)


def discard_these(
    engine: Engine, viewer: Viewer, ids: Sequence[UUID], reason: str, now: datetime
) -> list[UUID]:
    """Discard these messages: they stay failed, and out of every redrive. `reason` is for the audit
    log."""
    _bound(ids)
    words = demanded_words(reason)

    def work(connection: Connection) -> list[UUID]:
        failed = repository.lock_failed(connection, [one.bytes for one in ids])
        meant = _administered(viewer, failed)
        done = [one for one in meant if one.reason != "discarded"]
        if done:
            repository.discard(connection, [one.message_id for one in done])
        why = {"reason": words}
        _note_each_domain(connection, viewer.actor, "message.discarded", done, why, now)
        return [UUID(bytes=one.message_id) for one in done]

    return transact(engine, work)


def _put_off(connection: Connection, now: datetime) -> Redrive | None:
    """Return the redrive that is due; it has its next turn only after a while, unless this one is
    taken."""
    moment = from_ms(to_ms(now))
    redrive = repository.lock_due(connection, moment)
    if redrive is None:
        return None
    put_off = replace(redrive, next_at=moment + TRIED_AGAIN)
    repository.go_on(connection, redrive, next_at=put_off.next_at)
    return put_off


def _take_turn(connection: Connection, redrive: Redrive, now: datetime) -> int:
    moment = from_ms(to_ms(now))
    found = repository.find_redrive(connection, redrive.redrive_id, None, lock=True)
    if found != redrive:
        return 0  # stopped, or another's turn by now
    places = repository.list_redrivable(
        connection, redrive.selection, redrive.place, redrive.rate_per_second
    )
    if not places:
        repository.go_on(connection, redrive, state="finished", ended_at=moment)
        details = {"redriven": redrive.redriven}
        _note(connection, redrive.actor, "redrive.finished", redrive, details, now)
        return 0
    failed = _lock_readable(connection, places)
    done = _queue_again(connection, failed, now)
    repository.go_on(
        connection,
        redrive,
        after_client=places[-1].client_id,
        after_id=places[-1].message_id,
        next_at=from_ms(to_ms(now) + 1000),
        redriven=redrive.redriven + len(done),
    )
    why = {"redrive": str(UUID(bytes=redrive.redrive_id))}
    _note_each_domain(connection, redrive.actor, "message.redriven", done, why, now)
    return len(done)


def _queue_again(
    connection: Connection, failed: Sequence[Standing], now: datetime
) -> list[Standing]:
    done = [one for one in failed if one.has_body and one.reason not in LASTING]
    if done:
        moment, ids = from_ms(to_ms(now)), [one.message_id for one in done]
        repository.queue_again(connection, ids, moment, moment + MAX_LIFETIME)
    return done


def _lock_readable(connection: Connection, places: Sequence[Place]) -> list[Standing]:
    """Lock the messages that have failed, and stay readable until they wait: whoever destroys their
    day's key has come first, or waits for this transaction and finds them queued."""
    pairs = {one: (one.client_id, day_of(UUID(bytes=one.message_id))) for one in places}
    held = hold_days(connection, set(pairs.values()))
    kept = [one.message_id for one, pair in pairs.items() if pair in held]
    return repository.lock_failed(connection, kept) if kept else []


def _administered(viewer: Viewer, failed: Sequence[Standing]) -> list[Standing]:
    domain = domain_within(viewer, Asked())
    return [one for one in failed if domain in (None, one.domain)]


def _note_each_domain(
    connection: Connection,
    actor: str,
    action: str,
    done: Sequence[Standing],
    details: Mapping[str, Any],
    now: datetime,
) -> None:
    """Note one entry for each domain, with all its messages' ids: its administrators see its
    entries alone."""
    ordered = sorted(done, key=lambda one: (one.domain, one.message_id))
    for domain, group in groupby(ordered, key=lambda one: one.domain):
        ids = [str(UUID(bytes=one.message_id)) for one in group]
        subject = ids[0] if len(ids) == 1 else f"{len(ids)} messages"
        entry = Entry(actor, action, subject, domain, {**details, "message_ids": ids})
        audit.append(connection, entry, now)


def _note(
    connection: Connection,
    actor: str,
    action: str,
    redrive: Redrive,
    details: Mapping[str, Any],
    now: datetime,
) -> None:
    subject = str(UUID(bytes=redrive.redrive_id))
    audit.append(connection, Entry(actor, action, subject, redrive.domain, details), now)


def _domain_of(client_id: str | None) -> str | None:
    """Return the domain whose administrators see a redrive of this client's messages, and may stop
    it."""
    return None if client_id is None else client_id.rpartition(":")[0]


def _bound(ids: Sequence[UUID]) -> None:
    if not 1 <= len(ids) <= MOST:
        raise Invalid(errors=[FieldError("/message_ids", f"holds 1 to {MOST} ids")])
