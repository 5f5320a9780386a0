"""Pausing and resuming, each with who and why in the audit log.

A pause discards nothing: what waits in a queue waits on, and ends at its time as everything does
(I5); what isn't taken in is refused before anything of it is kept (I11).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.reasons import checked_words, demanded_words
from main_server.store.database import transact
from main_server.tenants.domains.repository import lock
from main_server.tenants.pauses import repository
from main_server.tenants.pauses.repository import EVERYWHERE, Pause, What


@dataclass(frozen=True, slots=True)
class Order:
    """An order: who wants something, and why."""

    actor: str
    reason: str
    now: datetime


Names = Mapping[str, str | None]
"""The domain that each name belongs to; None where it is no single one's."""


def pause(engine: Engine, what: What, names: Names, order: Order) -> list[tuple[Pause, bool]]:
    """Pause what has these names. What is paused already stays as it is, with who did it and why;
    the others are new."""
    return pause_those(engine, what, lambda _: names, order)


def pause_those(
    engine: Engine, what: What, find: Callable[[Connection], Names], order: Order
) -> list[tuple[Pause, bool]]:
    """Pause what `find` names, as `pause` does; which are meant is found while nobody changes
    domains."""
    words = said(order)

    def work(connection: Connection) -> list[tuple[Pause, bool]]:
        lock(connection)
        paused = []
        for name, domain in find(connection).items():
            found = repository.find(connection, what, name)
            new = found or Pause(what.value, name, words, order.actor, from_ms(to_ms(order.now)))
            if found is None:
                repository.add(connection, new)
                _note(connection, f"{what.value}.paused", name, domain, words, order)
            paused.append((new, found is None))
        return paused

    return transact(engine, work)


def resume(engine: Engine, what: What, names: Names, order: Order) -> list[str]:
    """Resume what has these names; return what was paused, and is no more. Why needn't be said: the
    pause has its reason."""
    words = checked_words(order.reason)

    def work(connection: Connection) -> list[str]:
        lock(connection)
        ended = [one for one in names if repository.find(connection, what, one) is not None]
        for name in ended:
            repository.remove(connection, what, name)
            _note(connection, f"{what.value}.resumed", name, names[name], words, order)
        return ended

    return transact(engine, work)


def take_along(
    connection: Connection, domain: str, left: str, to: str, actor: str, now: datetime
) -> None:
    """Pause the queue that a domain moves to where the one that it leaves is paused, by the same
    word: whoever has paused its messages isn't to find them delivered. This is within the
    transaction that moves the domain."""
    found = repository.find(connection, What.QUEUE, left)
    if found is None or repository.find(connection, What.QUEUE, to) is not None:
        return
    repository.add(connection, replace(found, name=to))
    details = {"reason": found.reason, "moved_from": left}
    audit.append(connection, Entry(actor, "queue.paused", to, domain, details), now)


def is_paused(connection: Connection, queue: str) -> bool:
    return repository.find(connection, What.QUEUE, queue) is not None


def list_all(engine: Engine, what: What | None = None) -> list[Pause]:
    return transact(engine, lambda connection: repository.list_pauses(connection, what))


def list_paused_queues(engine: Engine) -> list[str]:
    return [one.name for one in list_all(engine, What.QUEUE)]


def said(order: Order) -> str:
    """Return why, as the audit log keeps it; raise Invalid if it can't be kept, or isn't said."""
    return demanded_words(order.reason)


def _note(
    connection: Connection, action: str, name: str, domain: str | None, words: str, order: Order
) -> None:
    subject = "all domains" if name == EVERYWHERE else name
    details = {"reason": words} if words else {}
    audit.append(connection, Entry(order.actor, action, subject, domain, details), order.now)
