"""What people ask the portal for, and how much of the ledger each answer has looked at."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from sqlalchemy import Engine, text

from bench.people.population import CLIENTS, DAYS, NUMBERS, REASONS, STATES, Population
from gatepost.wire.people import UserRole
from main_server.keys.service import Keyring
from main_server.messages.failed.listing import count_by_reason
from main_server.messages.reading.asking import asked_by, macs_of, span_of
from main_server.messages.reading.search import Query, search, with_numbers
from main_server.people.users.viewer import Viewer
from main_server.store.database import transact
from portal.filters import Filters

FEW = 5
"""Clients of a user who has several."""


@dataclass(frozen=True, slots=True)
class Asker:
    words: str
    viewer: Viewer


@dataclass(frozen=True, slots=True)
class Question:
    words: str
    path: str
    """Of the page; what else it is narrowed to is in `filters`."""
    filters: Callable[[random.Random], Filters]
    for_all: bool = True
    """Whether users ask it, or administrators alone."""


def askers(population: Population) -> list[Asker]:
    domain = population.domains[0]
    clients = population.clients(domain)

    def of(words: str, role: UserRole, name: str, own: list[str]) -> Asker:
        return Asker(words, Viewer("", name, role, domain, frozenset(own)))

    return [
        of("user of one client", UserRole.USER, "one", clients[7:8]),
        of("user of the busiest client", UserRole.USER, "busy", clients[:1]),
        of(f"user of {FEW} clients", UserRole.USER, "few", clients[1 : 1 + FEW]),
        of(f"administrator, {CLIENTS} clients", UserRole.ADMIN, "boss", []),
    ]


class Questions:
    """What is asked within the first domain, with what it is narrowed to drawn anew each time."""

    def __init__(self, population: Population, ring: Keyring) -> None:
        self._population, self._ring = population, ring
        self._domain = population.domains[0]

    def all(self) -> list[Question]:
        failed = partial(self._of_busiest_number, status="failed")
        return [
            Question("newest", "/messages", self._any),
            Question("one day", "/messages", self._of_day),
            *(
                Question(f"status {one}", "/messages", partial(self._any, status=one))
                for one in STATES
            ),
            Question("a number", "/messages", self._of_number),
            Question("the busiest number", "/messages", self._of_busiest_number),
            Question("the busiest number, failed", "/messages", failed),
            Question("a client", "/messages", self._of_client, for_all=False),
            Question(
                "a client, failed",
                "/messages",
                partial(self._of_client, status="failed"),
                for_all=False,
            ),
            Question("failed messages", "/failed", self._any, for_all=False),
            Question("failed for a reason", "/failed", self._of_reason, for_all=False),
        ]

    def of(self, asker: Asker) -> Iterator[Question]:
        for question in self.all():
            if question.for_all or asker.viewer.role is not UserRole.USER:
                yield question

    def _any(self, _draw: random.Random, status: str = "") -> Filters:
        return Filters(status=status)

    def _of_day(self, draw: random.Random) -> Filters:
        chosen = datetime.now(UTC).date() - timedelta(days=draw.randrange(1, DAYS))
        return Filters(first=chosen.isoformat(), last=chosen.isoformat())

    def _of_number(self, draw: random.Random) -> Filters:
        return Filters(sender=self._macs(draw.randrange(1, NUMBERS)))

    def _of_busiest_number(self, _draw: random.Random, status: str = "") -> Filters:
        return Filters(sender=self._macs(0), status=status)

    def _of_client(self, draw: random.Random, status: str = "") -> Filters:
        return Filters(client=draw.choice(self._population.clients(self._domain)), status=status)

    def _of_reason(self, draw: random.Random) -> Filters:
        return Filters(reason=draw.choice(list(REASONS)))

    def _macs(self, index: int) -> str:
        found = self._ring.number_hashes(self._domain, self._population.number(index))
        return ",".join(mac.hex() for _, mac in found)


class Counter:
    """Asks as the main server does, and counts the entries that were read.

    One thing at a time, so that the engine has one connection, whose count it is.
    """

    def __init__(self, engine: Engine, ring: Keyring) -> None:
        self._engine, self._ring = engine, ring

    def rows(self, asker: Asker, question: Question, filters: Filters) -> int:
        """Of the page that answers it, and of the one after it, whichever are more."""
        most, before = 0, None
        for _ in range(2):
            read = self._read()
            before = self._ask(asker.viewer, question.path, filters, before)
            most = max(most, self._read() - read)
            if before is None:
                break
        return most

    def _ask(self, viewer: Viewer, path: str, filters: Filters, before: str | None) -> str | None:
        given = filters.asked(ZoneInfo("UTC"))
        asked = asked_by(viewer, given.get("domain"), given.get("client"))
        ends = [datetime.fromisoformat(given[one]) if one in given else None for one in _ENDS]
        now = datetime.now(UTC)
        span = span_of(ends[0], ends[1], now, before)
        status = given.get("status")
        if path == "/failed":
            status = "failed"
            count_by_reason(self._engine, viewer, Query(span, asked, status))
        wanted = Query(span, asked, status, macs_of(given.get("sender")), given.get("reason"))
        found = search(self._engine, viewer, wanted)
        page = with_numbers(self._engine, self._ring, found)
        return page.before.hex() if page.before else None

    def _read(self) -> int:
        query = text("SHOW SESSION STATUS LIKE 'Handler_read_%'")
        rows = transact(self._engine, lambda c: c.execute(query).all())
        return sum(int(row[1]) for row in rows)


_ENDS = ("from", "to")
