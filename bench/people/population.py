"""A ledger as thirty days have left it: domains, clients, and their messages, sealed as ever.

Nothing is made easy: each body opens under its client's key of that day, numbers are found by their
MACs, one client has a third of its domain's messages and sends half of them from one number, and
what has failed lies all over the month.
The time of each row's making is not measured, so rows are written as SQL by hand.
"""

import random
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from gatepost.clock import from_ms, to_ms
from gatepost.ids import first_id_at
from gatepost.trust.identity import Identity, Role
from gatepost.wire.content import Content, encode_content
from main_server.ca import repository as domains
from main_server.commands.keys_opening import Opened, opened
from main_server.keys import repository as keys
from main_server.keys.data_keys import new_data_key, unwrap
from main_server.keys.rows.form import seal_row
from main_server.keys.service import open_keyring
from main_server.messages.partitions import TABLES, partition_name
from main_server.store.database import transact
from main_server.tenants.clients import repository as clients

DAYS = 30
DOMAINS, CLIENTS = 5, 40
NUMBERS = 20_000
STATES = {"delivered": 97.5, "failed": 1.5, "erased": 0.5, "duplicate": 0.3, "queued": 0.2}
"""Of a hundred messages. What waits is of the last three days, and isn't due for long."""
REASONS = {"attempts_used": 5, "refused": 3, "expired": 2}
ROWS_A_STATEMENT = 1_000
PROCESSES = 2
_DAY_MS = 86_400_000
_WAITS_DAYS = 3


@dataclass(frozen=True)
class Population:
    """What there is, by name; the first client of each domain is the busy one."""

    domains: tuple[str, ...] = tuple(f"town-{n}.example" for n in range(DOMAINS))

    def clients(self, domain: str) -> list[str]:
        return [f"{domain}:client-{n:02}" for n in range(CLIENTS)]

    @staticmethod
    def number(index: int) -> str:
        return f"+49170{index:07}"


def populate(engine: Engine, configs: Path, rows: int, said: Callable[[str], None]) -> Population:
    """Fills the ledger of a stack, whose settings are in that folder."""
    population = Population()
    now = datetime.now(UTC)
    _add_holders(engine, population, from_ms(to_ms(now)))
    days = [now.date() - timedelta(days=n) for n in range(DAYS)]
    divide_past(engine, days)
    share = -(-rows // DAYS)
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        work = partial(_fill_day, configs / "main_server.yaml", population, share, to_ms(now))
        for done, day in enumerate(pool.map(work, days), 1):
            said(f"{day}: {done * share:,} messages")
    with engine.connect() as connection:
        for table in TABLES:
            connection.execute(text(f"ANALYZE TABLE {table}")).all()
    return population


def divide_past(engine: Engine, days: list[date]) -> None:
    """The days that have been each have a partition, as in a ledger that was there all the time.

    A new one holds all that is older in its first partition, which is divided here."""
    with engine.connect() as connection:
        for table in TABLES:
            query = text(
                "SELECT partition_name FROM information_schema.partitions"
                " WHERE table_schema = DATABASE() AND table_name = :table"
                " ORDER BY partition_ordinal_position LIMIT 1"
            )
            first = str(connection.execute(query, {"table": table}).scalar_one())
            past = [day for day in sorted(days) if partition_name(day) <= first]
            parts = [
                f"PARTITION {partition_name(day)} VALUES LESS THAN"
                f" (x'{first_id_at(_start_of(day) + _DAY_MS).hex()}')"
                for day in past
            ]
            statement = (
                f"ALTER TABLE {table} REORGANIZE PARTITION {first} INTO ({', '.join(parts)})"
            )
            connection.execute(text(statement))


def _add_holders(engine: Engine, population: Population, now: datetime) -> None:
    def add(connection: Connection) -> None:
        for domain in population.domains:
            domains.add_domain(connection, domain, f"{domain}:messages", now)
            for client in population.clients(domain):
                identity = Identity(domain, Role.CLIENT, client.partition(":")[2])
                clients.add(connection, identity, 100, 1000, now)

    transact(engine, add)


def _fill_day(config: Path, population: Population, rows: int, now_ms: int, day: date) -> date:
    """In one of the processes."""
    with opened(config) as found:
        maker = _Day(found, population, _macs(config, population), now_ms, day)
        with closing(found.engine.raw_connection()) as raw:
            cursor = raw.cursor()
            for statement in maker.statements(rows):
                cursor.execute(statement)
                raw.commit()
    return day


@cache
def _macs(config: Path, population: Population) -> dict[str, list[tuple[bytes, bytes]]]:
    """Of all numbers, once for each process."""
    with opened(config) as found:
        ring = open_keyring(found.engine, found.masters)
        return {
            domain: [ring.hash_number(domain, population.number(index)) for index in range(NUMBERS)]
            for domain in population.domains
        }


class _Day:
    """The messages of one day, by the order of their ids."""

    def __init__(
        self,
        found: Opened,
        population: Population,
        macs: dict[str, list[tuple[bytes, bytes]]],
        now_ms: int,
        day: date,
    ) -> None:
        self._macs, self._now, self._population = macs, now_ms, population
        self._start = _start_of(day)
        self._random = random.Random(day.toordinal())
        self._waits = now_ms - self._start < _WAITS_DAYS * _DAY_MS
        self._keys = _make_keys(found, population, day)

    def statements(self, rows: int) -> Iterator[str]:
        end = min(self._start + _DAY_MS, self._now - 60_000)
        begin = min(self._start, end - 1)
        times = sorted(self._random.randrange(begin, end) for _ in range(rows))
        for first in range(0, rows, ROWS_A_STATEMENT):
            yield from self._some(times[first : first + ROWS_A_STATEMENT])

    def _some(self, times: list[int]) -> Iterator[str]:
        ids = sorted(_id_at(ms) for ms in times)
        attempts: list[str] = []
        rows = [self._row(message_id, attempts) for message_id in ids]
        yield f"INSERT INTO messages ({_COLUMNS}) VALUES {','.join(rows)}"
        if attempts:
            yield f"INSERT INTO attempts ({_ATTEMPT_COLUMNS}) VALUES {','.join(attempts)}"

    def _row(self, message_id: UUID, attempts: list[str]) -> str:
        draw = self._random
        domain = draw.choice(self._population.domains)
        client = 0 if draw.random() < 1 / 3 else draw.randrange(CLIENTS)
        client_id = f"{domain}:client-{client:02}"
        index = 0 if client == 0 and draw.random() < 1 / 2 else draw.randrange(NUMBERS)
        kid, mac = self._macs[domain][index]
        status = draw.choices(list(STATES), list(STATES.values()))[0]
        if status == "queued" and not self._waits:
            status = "delivered"
        ms = message_id.int >> 80
        came = _time(ms)
        due = _time(self._now + _DAY_MS) if status == "queued" else came
        ends = _time(ms + 4 * _DAY_MS)
        delivered = _time(ms + draw.randrange(5, 400)) if status == "delivered" else "NULL"
        reason, tries, key_id, sealed = "NULL", 1, "NULL", "NULL"
        if status in ("failed", "queued"):
            tries = 3
            for number in range(1, tries + 1):
                outcome = "failed" if status == "failed" and number == tries else "retry"
                moment = _time(ms + number * 30_000)
                attempts.append(
                    f"(x'{message_id.hex}',{number},{moment},{moment},'{outcome}','refused')"
                )
        if status == "failed":
            reason = f"'{draw.choices(list(REASONS), list(REASONS.values()))[0]}'"
        if status != "erased":
            number, key = self._keys[client_id]
            content = encode_content(Content(Population.number(index), _BODY))
            body = seal_row(key, number, message_id, client_id, domain, content)
            key_id, sealed = str(number), f"x'{body.hex()}'"
        return (
            f"(x'{message_id.hex}','{client_id}','{domain}',x'{_FINGERPRINT}',x'{mac.hex()}',"
            f"x'{kid.hex()}',{sealed},{key_id},'{status}',{reason},{came},{came},{delivered},"
            f"{due},{ends},{tries},'{domain}:messages',5,0)"
        )


_COLUMNS = (
    "message_id, client_id, domain, cert_fingerprint, sender_number_hashed, hmac_kid,"
    " encrypted_body, key_id, status, reason, created_at, queued_at, delivered_at, due_at,"
    " expires_at, attempt_count, queue, priority, generation"
)
_ATTEMPT_COLUMNS = "message_id, attempt, started_at, ended_at, outcome, reason"
_FINGERPRINT = secrets.token_hex(32)
_BODY = "Your parcel is at the counter until Friday, six in the evening. " * 2


def _make_keys(found: Opened, population: Population, day: date) -> dict[str, tuple[int, bytes]]:
    def work(connection: Connection) -> list[keys.DataKey]:
        master = found.masters.get(keys.share_master(connection))
        now = keys.read_time(connection)
        pairs = [(one, day) for domain in population.domains for one in population.clients(domain)]
        made = [new_data_key(master, pair, now) for pair in sorted(pairs)]
        keys.add_data_keys(connection, made)
        return made

    made = transact(found.engine, work)
    return {one.client_id: (one.key_id, unwrap(found.masters, one)) for one in made}


def _start_of(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def _id_at(ms: int) -> UUID:
    drawn = secrets.randbits(74)
    return UUID(int=ms << 80 | 0x7 << 76 | (drawn >> 62) << 64 | 0b10 << 62 | drawn & (1 << 62) - 1)


def _time(ms: int) -> str:
    return f"'{from_ms(ms).isoformat(sep=' ', timespec='milliseconds')}'"
