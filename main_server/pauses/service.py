"""Pausing and resuming, each with who and why in the audit log.

A pause discards nothing: what waits in a queue waits on, and ends at its time as everything does
(I5); what isn't taken in is refused before anything of it is kept (I11).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms, to_ms
from gatepost.errors import FieldError, Invalid
from main_server.audit import repository as audit
from main_server.audit.chain import Entry
from main_server.database import transact
from main_server.domains.repository import lock
from main_server.pauses import repository
from main_server.pauses.repository import EVERYWHERE, Pause, What
from main_server.reading.asking import checked_words


@dataclass(frozen=True, slots=True)
class Order:
    """Who wants something, and why."""

    actor: str
    reason: str
    now: datetime


def pause(
    engine: Engine, what: What, names: Mapping[str, str | None], order: Order
) -> list[tuple[Pause, bool]]:
    """By each name, whose it is. What is paused already stays as it is, with who did it and why;
    the others are new."""
    words = said(order)

    def work(connection: Connection) -> list[tuple[Pause, bool]]:
        lock(connection)
        paused = []
        for name, domain in names.items():
            found = repository.find(connection, what, name)
            new = found or Pause(what.value, name, words, order.actor, from_ms(to_ms(order.now)))
            if found is None:
                repository.add(connection, new)
                _note(connection, f"{what.value}.paused", name, domain, words, order)
            paused.append((new, found is None))
        return paused

    return transact(engine, work)


def resume(engine: Engine, what: What, names: Mapping[str, str | None], order: Order) -> list[str]:
    """Those that were paused, and are no more. Why needn't be said: the pause has its reason."""
    words = checked_words(order.reason)

    def work(connection: Connection) -> list[str]:
        lock(connection)
        ended = [one for one in names if repository.find(connection, what, one) is not None]
        for name in ended:
            repository.remove(connection, what, name)
            _note(connection, f"{what.value}.resumed", name, names[name], words, order)
        return ended

    return transact(engine, work)


def list_all(engine: Engine, what: What | None = None) -> list[Pause]:
    return transact(engine, lambda connection: repository.list_pauses(connection, what))


def list_paused_queues(engine: Engine) -> list[str]:
    return [one.name for one in list_all(engine, What.QUEUE)]


def said(order: Order) -> str:
    """Why, as the audit log keeps it. Raises Invalid."""
    words = checked_words(order.reason)
    if not words:
        raise Invalid(errors=[FieldError("/reason", "say why: it is kept in the audit log")])
    return words


def _note(
    connection: Connection, action: str, name: str, domain: str | None, words: str, order: Order
) -> None:
    subject = "all domains" if name == EVERYWHERE else name
    details = {"reason": words} if words else {}
    audit.append(connection, Entry(order.actor, action, subject, domain, details), order.now)
