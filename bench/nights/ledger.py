"""A ledger of millions, made by the database itself: metadata as days have left it, bodies of the
right size that nobody has sealed.

One client has half of all the traffic, times of delivery go over four orders of magnitude, and what
has failed lies all over the days. Each client's day has a data key, as it would.

Indexes are built when all rows are there: millions are sorted quicker than put in one by one.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import Connection, Engine, Index, create_engine, text

from bench.people.population import divide_past
from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity, Role
from infra.dev.engines import Engines, MariaServer
from main_server.ca import repository as holders
from main_server.key_file import KEY_BYTES
from main_server.keys.data_keys import new_data_key
from main_server.keys.master import MasterKey, MasterKeys
from main_server.keys.repository import add_data_keys
from main_server.keys.service import open_keyring
from main_server.messages.partitions import ensure_partitions
from main_server.settings import Database
from main_server.store import schema as migrating
from main_server.store.database import create_ledger_engine, transact
from main_server.store.rights import Account, grant_publishing, grant_reading, grant_retaining
from main_server.store.tables import messages
from main_server.tenants.clients import repository as clients

KEYS_SCHEMA, HOST = "gatepost_keys", "127.0.0.1"
ROWS_A_STATEMENT = 100_000
AT_ONCE = 2
DOMAINS, CLIENTS = 5, 40
SETTLED_WITHIN = 600
_SETTLING = {
    "innodb_io_capacity_max": 20_000,
    "innodb_io_capacity": 20_000,
    "innodb_max_dirty_pages_pct": 0,
}
"""In this order; of 200 pages a second, as usual, it would take minutes."""
_UNSETTLED = """
SELECT COUNT(*) FROM information_schema.global_status
WHERE variable_name = 'INNODB_HISTORY_LIST_LENGTH' AND variable_value > 1000
   OR variable_name = 'INNODB_BUFFER_POOL_PAGES_DIRTY' AND variable_value > 1000
"""
_DAY_MS = 86_400_000
_LARGE = {
    "innodb_buffer_pool_size": 1536 * 2**20,
    "innodb_log_file_size": 1024 * 2**20,
    "innodb_flush_log_at_trx_commit": 2,
}
"""For the making of the rows, whose time is not measured."""


@dataclass(frozen=True)
class BigLedger:
    server: MariaServer
    engine: Engine
    rows: Mapping[date, int]
    master: bytes

    @property
    def total(self) -> int:
        return sum(self.rows.values())

    def settle(self) -> None:
        """Until the server has nothing left to do of what was done to it: what was deleted is
        purged, what was written is on the disk."""
        root = create_engine(self.server.url("root", "mysql"), isolation_level="AUTOCOMMIT")
        deadline = time.monotonic() + SETTLED_WITHIN
        with root.connect() as connection:
            for name, value in _SETTLING.items():
                connection.execute(text(f"SET GLOBAL {name} = {value}"))
            while connection.execute(text(_UNSETTLED)).scalar_one() > 0:
                if time.monotonic() > deadline:
                    raise TimeoutError("the ledger isn't settled")
                time.sleep(1)
            for name in _SETTLING:
                connection.execute(text(f"SET GLOBAL {name} = DEFAULT"))
        root.dispose()


@contextmanager
def big_ledger(
    folder: Path, rows: Mapping[date, int], said: Callable[[str], None]
) -> Iterator[BigLedger]:
    """With so many messages on each of these days."""
    with MariaServer(Engines(), folder) as server:
        root = create_engine(server.url("root", "mysql"), isolation_level="AUTOCOMMIT")
        with root.connect() as connection:
            for name, value in _LARGE.items():
                connection.execute(text(f"SET GLOBAL {name} = {value}"))
        engine = _migrated(server)
        ensure_partitions(engine, max(rows) + timedelta(days=1))
        divide_past(engine, sorted(rows))
        fill(engine, rows, said)
        master = secrets.token_bytes(KEY_BYTES)
        open_keyring(engine, MasterKeys(lambda: [MasterKey(master)]))
        transact(engine, lambda connection: _add_holders(connection, MasterKey(master), rows))
        with root.connect() as connection:
            connection.execute(text("SET GLOBAL innodb_flush_log_at_trx_commit = 1"))
        root.dispose()
        yield BigLedger(server, engine, rows, master)
        engine.dispose()


def _migrated(server: MariaServer) -> Engine:
    url = SecretStr(server.url("gatepost_migrate"))
    engine = create_ledger_engine(Database(url=url, keys_schema=KEYS_SCHEMA), patient=True)
    migrating.upgrade(engine, KEYS_SCHEMA)
    grant_reading(engine, Account("gatepost_lake", HOST))
    grant_publishing(engine, Account("gatepost_analytics", HOST))
    grant_retaining(engine, Account("gatepost_retention", HOST), KEYS_SCHEMA)
    return engine


def _add_holders(connection: Connection, master: MasterKey, days: Iterable[date]) -> None:
    now = from_ms(to_ms(datetime.now(UTC)))
    for domain in (f"town-{n}.example" for n in range(DOMAINS)):
        holders.add_domain(connection, domain, None, now)
        for client in range(CLIENTS):
            identity = Identity(domain, Role.CLIENT, f"client-{client}")
            clients.add(connection, identity, 100, 1000, now)
            pairs = [(identity.client_id, day) for day in days]
            keys = [new_data_key(master, pair, now.replace(tzinfo=None)) for pair in pairs]
            add_data_keys(connection, keys)


def fill(engine: Engine, rows: Mapping[date, int], said: Callable[[str], None]) -> None:
    def fill_day(day: date) -> date:
        with engine.connect() as connection:
            for first in range(0, rows[day], ROWS_A_STATEMENT):
                last = min(first + ROWS_A_STATEMENT, rows[day]) - 1
                connection.execute(text(_statement(day, rows[day], first, last)))
                connection.commit()
        return day

    indexes = sorted(messages.indexes, key=lambda index: str(index.name))
    _alter(engine, ", ".join(f"DROP INDEX {one.name}" for one in indexes))
    done = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for day in pool.map(fill_day, sorted(rows, key=lambda day: -rows[day])):
            done += rows[day]
            said(f"{day}: {done:,} messages")
    said("indexes …")
    _alter(engine, ", ".join(f"ADD INDEX {one.name} ({_columns(one)})" for one in indexes))


def _alter(engine: Engine, changes: str) -> None:
    with engine.connect() as connection:
        connection.execute(text(f"ALTER TABLE messages {changes}"))


def _columns(index: Index) -> str:
    return ", ".join(column.name for column in index.columns)


def _statement(day: date, rows: int, first: int, last: int) -> str:
    """The day's messages from one number to another. All that is drawn for one follows from its day
    and its number."""
    start = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
    began = from_ms(start).isoformat(sep=" ")
    fresh = datetime.now(UTC).date() - day <= timedelta(days=3)
    drawn = [f"CRC32(CONCAT('{day}/{letter}/', seq)) AS {letter}" for letter in "abcdef"]
    return f"""
INSERT INTO messages (message_id, client_id, domain, cert_fingerprint, sender_number_hashed,
  hmac_kid, encrypted_body, key_id, status, reason, created_at, queued_at, delivered_at, due_at,
  expires_at, attempt_count, queue, priority, generation)
SELECT id, CONCAT(domain, ':', client), domain, REPEAT('f', 32), number, 'of tests', body, 1,
  status,
  IF(status = 'failed', ELT(1 + b DIV 1000 % 3, 'attempts_used', 'refused', 'expired'), NULL),
  came, came, IF(status = 'delivered', came + INTERVAL took * 1000 MICROSECOND, NULL), came,
  came + INTERVAL 4 DAY, IF(status = 'queued', 0, 1 + IF(c % 50 = 0, c DIV 50 % 9, 0)),
  'message_queue', 5, 0
FROM (
  SELECT b, c,
    UNHEX(CONCAT(LPAD(HEX({start} + ms), 12, '0'), '7', LEFT(hash, 3), '8', RIGHT(hash, 15))) AS id,
    IF(a % 2, CONCAT('town-', a DIV 2 % {DOMAINS}, '.example'), 'town-0.example') AS domain,
    IF(a % 2, CONCAT('client-', a DIV 10 % {CLIENTS}), 'client-0') AS client,
    UNHEX(SHA2(CONCAT(a % 2 * (a DIV 2 % {DOMAINS}), '/', FLOOR(20000 * POW(d / 4294967296, 2))),
      256)) AS number,
    RPAD(hash, 150, hash) AS body,
    CASE WHEN b % 1000 < 2 THEN '{"queued" if fresh else "delivered"}' WHEN b % 1000 < 17 THEN
      'failed' WHEN b % 1000 < 22 THEN 'erased' WHEN b % 1000 < 25 THEN 'duplicate' ELSE
      'delivered' END AS status,
    TIMESTAMP('{began}') + INTERVAL ms * 1000 MICROSECOND AS came,
    FLOOR(20 * POW(2, 13 * POW(e / 4294967296, 3))) + f % 20 AS took
  FROM (
    SELECT seq * {_DAY_MS} DIV {rows} AS ms, MD5(CONCAT('{day}/', seq)) AS hash,
      {", ".join(drawn)}
    FROM seq_{first}_to_{last}
  ) AS numbers
) AS messages
"""
