"""The plan of what is to go: by client and day, and which partitions with all that is in them.

Only days that are due are looked at: what a plan costs follows what goes, and not what is kept.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection

from main_server.keys import repository as keys
from main_server.keys.repository import Pair
from main_server.retention import partition_repository as partitions
from main_server.retention import row_repository as rows
from main_server.retention.days import Span, day_of, end_of, span_of
from main_server.retention.partition_repository import Partition
from main_server.retention.whole import may_drop
from main_server.tenants import hold_repository as holds
from main_server.tenants.policy import Policies, domain_of, last_due

WAITING = "queued"


@dataclass(frozen=True, slots=True)
class Part:
    """A client's day whose time has come: its messages by state, and how many keys it has."""

    client_id: str
    day: date
    messages: Mapping[str, int]
    keys: int
    sealed: bool

    @property
    def domain(self) -> str:
        return domain_of(self.client_id)

    @property
    def pair(self) -> Pair:
        return self.client_id, self.day

    @property
    def count(self) -> int:
        return sum(self.messages.values())

    @property
    def waiting(self) -> int:
        """The messages that stay until they have ended: begun anew by a redrive, or a fault
        (I5)."""
        return self.messages.get(WAITING, 0)

    @property
    def goes(self) -> int:
        """The messages that this run takes away."""
        return self.count - self.waiting if self.sealed else 0

    @property
    def keys_go(self) -> int:
        """The keys that go, once no message is left. Where there was none, the day need not be
        sealed for it."""
        return 0 if self.waiting or (self.count and not self.sealed) else self.keys


@dataclass(frozen=True, slots=True)
class Whole:
    """A partition in which nothing has to stay: the days after `after`, up to its last one."""

    name: str
    after: date
    last_day: date


@dataclass(frozen=True, slots=True)
class Plan:
    today: date
    parts: list[Part]
    held: list[str]
    """Clients that would lose something if they were not on legal hold."""
    whole: list[Whole]
    message_bytes: int
    """The bytes that a message takes on the disk, about."""
    messages_in_all: int
    last_published: date | None
    """The last published day before today."""
    lake_folders: list[date]
    """Days that are past the lake's own, longer time: the pipeline takes them away."""

    @property
    def messages(self) -> int:
        return sum(part.goes for part in self.parts)

    @property
    def keys(self) -> int:
        return sum(part.keys_go for part in self.parts)

    @property
    def bytes(self) -> int:
        return self.messages * self.message_bytes

    def within(self, whole: Whole) -> list[Part]:
        return [part for part in self.parts if whole.after < part.day <= whole.last_day]

    @property
    def unsealed(self) -> list[Part]:
        return [part for part in self.parts if part.count and not part.sealed]

    @property
    def code(self) -> str:
        """The code of exactly this plan, on this day: whoever confirms with it has seen the
        plan."""
        parts = [f"{part.client_id} {part.day} {part.goes} {part.keys_go}" for part in self.parts]
        said = "\n".join([str(self.today), *parts])
        return hashlib.sha256(said.encode()).hexdigest()[:8]


def make_plan(connection: Connection, policies: Policies, today: date) -> Plan:
    held: set[str] = set()
    due = list(_due_days(connection, policies, today, held))
    sealed = rows.sealed_days(connection, {day for (_, day), _ in due})
    parts = [
        Part(
            client_id,
            day,
            rows.count_by_status(connection, client_id, span_of(day)),
            keys_there,
            day in sealed,
        )
        for (client_id, day), keys_there in due
    ]
    parts = [part for part in parts if part.count or part.keys]
    lake_days, _ = holds.lake_days(connection)
    found = [one for one in partitions.list_partitions(connection) if one.table == "messages"]
    return Plan(
        today,
        parts,
        sorted(held),
        list(_whole(connection, found, policies, today)),
        _bytes_of_one(found),
        _messages_in_all(connection, found),
        rows.last_published(connection, today),
        rows.lake_left(connection, last_due(max(lake_days, policies.longest), today)),
    )


def _whole(
    connection: Connection, found: list[Partition], policies: Policies, today: date
) -> Iterator[Whole]:
    widest, after = last_due(policies.shortest, today), date.min
    for one in found:
        if one.last_day <= widest and may_drop(connection, one.name, policies, today):
            yield Whole(one.name, after, one.last_day)
        after = one.last_day


def _due_days(
    connection: Connection, policies: Policies, today: date, held: set[str]
) -> Iterator[tuple[Pair, int]]:
    """Yield each day that is due with how many keys it has, in the order of days, then of
    clients."""
    widest = last_due(policies.shortest, today)
    keyed: dict[str, dict[date, int]] = {}
    for (client_id, day), count in keys.count_by_day(connection, widest).items():
        keyed.setdefault(client_id, {})[day] = count
    oldest = rows.oldest_by_client(connection, end_of(widest))
    due: dict[Pair, int] = {}
    for client_id in {*oldest, *keyed}:
        last = last_due(policies.days_of(client_id), today)
        of_keys = {day: n for day, n in keyed.get(client_id, {}).items() if day <= last}
        of_rows = _days_with_messages(connection, client_id, oldest.get(client_id), last)
        if policies.is_held(client_id):
            if of_keys or any(True for _ in of_rows):
                held.add(client_id)
        else:
            days = {*of_keys, *of_rows}
            due |= {(client_id, day): of_keys.get(day, 0) for day in days}
    yield from sorted(due.items(), key=lambda one: (one[0][1], one[0][0]))


def _days_with_messages(
    connection: Connection, client_id: str, first: bytes | None, last: date
) -> Iterator[date]:
    """Yield the days with messages, going from day to day along the index: what is between them
    isn't read."""
    while first is not None and day_of(first) <= last:
        day = day_of(first)
        yield day
        first = rows.next_of_client(connection, client_id, Span(end_of(day), end_of(last)))


def _messages_in_all(connection: Connection, found: list[Partition]) -> int:
    """Return the number of messages: counted where that is quick, else the server's estimate."""
    about = sum(one.rows for one in found)
    return about if about > _COUNTED else rows.count_all(connection)


def _bytes_of_one(found: list[Partition]) -> int:
    """Return the bytes that one message takes. In partitions with hardly any messages most of the
    space is empty, so there the usual size is taken."""
    count, size = sum(one.rows for one in found), sum(one.bytes for one in found)
    return size // count if count > _FEW else _USUAL_BYTES


_COUNTED = 1_000_000
_FEW, _USUAL_BYTES = 1_000, 700
