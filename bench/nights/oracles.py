"""The same reports, counted by two others: DuckDB from the lake's own files, and MariaDB from the
ledger. Neither shares a line with the pipeline; what they find must be what is published.

The edges of the buckets are worked out here in whole numbers, not by a logarithm. How many senders
there were MariaDB alone can count, by their MACs, which the lake hasn't.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Engine, text

from analytics.days import ids_of
from gatepost.reports.repository import Scope, senders
from gatepost.reports.times import quantile

HOURS = (
    "COUNT(*), SUM(status = 'delivered'), SUM(status = 'failed'), SUM(status = 'erased'),"
    " SUM(status = 'duplicate'), SUM(status = 'queued'), SUM(GREATEST(attempt_count - 1, 0))"
)
PUBLISHED = {
    "report_hours": "accepted, delivered, failed, erased, duplicates, waiting, retries",
    "report_failures": "reason, failed",
    "report_delivery_times": "bucket, delivered",
    "report_attempts": "bucket, delivered, failed",
}
SHARES = (0.5, 0.95, 0.99)
ERROR = 0.045
"""That the reports promise of a quantile, and a millisecond."""
SENDERS_ERROR = 4 * 0.016
"""Of a sketch: one in sixteen thousand is off by more."""
_LONGEST_MS = 2**36
Rows = Counter[tuple[Any, ...]]


@dataclass
class Agreement:
    """What was compared, and what it took."""

    seconds: dict[str, float] = field(default_factory=lambda: {"DuckDB": 0.0, "MariaDB": 0.0})
    rows: int = 0
    worst_quantile: float = 0.0
    worst_senders: float = 0.0
    differences: list[str] = field(default_factory=list)


def compare(engine: Engine, lake: Path, days: Sequence[date]) -> Agreement:
    found = Agreement()
    edges = _edges()
    for day in days:
        published = _published(engine, day)
        found.rows += sum(rows.total() for rows in published.values())
        begun = time.monotonic()
        by_duckdb, quantiles = _by_duckdb(_folder(engine, lake, day), edges)
        found.seconds["DuckDB"] += time.monotonic() - begun
        begun = time.monotonic()
        by_mariadb = _by_mariadb(engine, day, edges)
        found.seconds["MariaDB"] += time.monotonic() - begun
        for name, rows in published.items():
            for who, theirs in (("DuckDB", by_duckdb[name]), ("MariaDB", by_mariadb[name])):
                found.differences += _differences(f"{day} {name}, {who}", rows, theirs)
        _compare_quantiles(found, day, published["report_delivery_times"], quantiles)
        _compare_senders(found, engine, day)
    return found


def _differences(what: str, ours: Rows, theirs: Rows) -> list[str]:
    missing, more = theirs - ours, ours - theirs
    if not missing and not more:
        return []
    sample = [*list(missing)[:1], *list(more)[:1]]
    return [f"{what}: {missing.total()} not published, {more.total()} not counted, as {sample}"]


def _compare_quantiles(
    found: Agreement, day: date, times: Rows, exact: Mapping[tuple[str, float], int]
) -> None:
    """By domain, of the whole day: the buckets of all its hours and clients added up."""
    domains: dict[str, Counter[int]] = {}
    for _, domain, _, bucket, delivered in times:
        domains.setdefault(domain, Counter())[bucket] += delivered
    for (domain, share), true in exact.items():
        read = quantile(domains[domain], share)
        assert read is not None
        off = max(0.0, abs(read - true) - 1) / max(true, 1)
        found.worst_quantile = max(found.worst_quantile, off)
        if off > ERROR:
            found.differences.append(f"{day} {domain}: p{share * 100:.0f} is {read}, not {true}")


def _compare_senders(found: Agreement, engine: Engine, day: date) -> None:
    """By domain. It takes a server long to count what is different, and isn't in its seconds."""
    query = text(
        "SELECT domain, COUNT(DISTINCT sender_number_hashed) FROM messages"
        " WHERE message_id >= :first AND message_id < :end GROUP BY domain"
    )
    span = ids_of(day)
    with engine.connect() as connection:
        exact = connection.execute(query, {"first": span.first, "end": span.end}).all()
        said = senders(connection, Scope(day, day), by=("domain",))
    for domain, true in exact:
        read = said[(domain,)].number
        off = abs(read - true) / true
        found.worst_senders = max(found.worst_senders, off)
        if off > SENDERS_ERROR:
            found.differences.append(f"{day} {domain}: {read} senders, not {true}")


def _edges() -> list[int]:
    """The least time of each bucket: the first whole ms whose (ms + 1)^8 is not below 2^n."""
    edges = [0]
    n = 1
    while edges[-1] < _LONGEST_MS:
        low, high = edges[-1], 2 * _LONGEST_MS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if (middle + 1) ** 8 >= 2**n else (middle + 1, high)
        edges.append(low)
        n += 1
    return edges


def _bucket(edges: list[int], ms: int) -> int:
    """The last bucket that begins at or before it: several begin at once where times are short."""
    low, high = 0, len(edges)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if edges[middle] <= ms else (low, middle)
    return low


def _in_buckets(rows: Sequence[tuple[Any, ...]], edges: list[int]) -> Rows:
    """Of rows that end in a time and a count."""
    found: Counter[tuple[Any, ...]] = Counter()
    for *keys, ms, count in rows:
        found[(*keys, _bucket(edges, max(int(ms), 0)))] += int(count)
    return Counter((*keys, count) for keys, count in found.items())


def _by_duckdb(
    folder: Path, edges: list[int]
) -> tuple[dict[str, Rows], dict[tuple[str, float], int]]:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(
            "CREATE VIEW messages AS SELECT *,"
            " (('0x' || substr(hex(message_id), 1, 12))::BIGINT // 3600000) % 24 AS hour,"
            " epoch_ms(delivered_at) - epoch_ms(queued_at) AS took"
            f" FROM read_parquet('{folder}/*/*.parquet', hive_partitioning = true)"
        )
        sums = HOURS.replace("SUM(status", "COUNT_IF(status")
        hours = connection.execute(_hours(sums)).fetchall()
        failures = connection.execute(_FAILURES).fetchall()
        times = connection.execute(_TIMES).fetchall()
        attempts = connection.execute(_ATTEMPTS.replace("SUM(status", "COUNT_IF(status")).fetchall()
        exact = connection.execute(
            f"SELECT domain, quantile_disc(greatest(took, 0), [{', '.join(map(str, SHARES))}])"
            " FROM messages WHERE status = 'delivered' GROUP BY domain"
        ).fetchall()
    quantiles = {(row[0], share): row[1][n] for row in exact for n, share in enumerate(SHARES)}
    return _reports(hours, failures, times, attempts, edges), quantiles


def _by_mariadb(engine: Engine, day: date, edges: list[int]) -> dict[str, Rows]:
    span = ids_of(day)
    messages = (
        "(SELECT *, CONV(LEFT(HEX(message_id), 12), 16, 10) DIV 3600000 MOD 24 AS hour,"
        " TIMESTAMPDIFF(MICROSECOND, queued_at, delivered_at) DIV 1000 AS took FROM messages"
        f" WHERE message_id >= x'{span.first.hex()}' AND message_id < x'{span.end.hex()}')"
        " AS messages"
    )
    with engine.connect() as connection:
        hours, failures, times, attempts = (
            [tuple(row) for row in connection.execute(text(query.replace("messages", messages, 1)))]
            for query in (_hours(HOURS), _FAILURES, _TIMES, _ATTEMPTS)
        )
    return _reports(hours, failures, times, attempts, edges)


def _hours(sums: str) -> str:
    return f"SELECT hour, domain, client_id, {sums} FROM messages GROUP BY hour, domain, client_id"


_FAILURES = (
    "SELECT hour, domain, client_id, COALESCE(reason, 'unknown') AS why, COUNT(*) FROM messages"
    " WHERE status = 'failed' GROUP BY hour, domain, client_id, why"
)
_TIMES = (
    "SELECT hour, domain, client_id, took, COUNT(*) FROM messages"
    " WHERE status = 'delivered' GROUP BY hour, domain, client_id, took"
)


_ATTEMPTS = (
    "SELECT hour, domain, client_id, attempt_count, SUM(status = 'delivered'),"
    " SUM(status = 'failed') FROM messages WHERE status IN ('delivered', 'failed')"
    " GROUP BY hour, domain, client_id, attempt_count"
)


def _reports(
    hours: Sequence[Any],
    failures: Sequence[Any],
    times: Sequence[Any],
    attempts: Sequence[Any],
    edges: list[int],
) -> dict[str, Rows]:
    return {
        "report_hours": _plain(hours),
        "report_failures": _plain(failures),
        "report_delivery_times": _in_buckets([tuple(row) for row in times], edges),
        "report_attempts": _plain(
            [(*keys, _bucket(edges, n), ended, failed) for *keys, n, ended, failed in attempts]
        ),
    }


def _plain(rows: Sequence[Any]) -> Rows:
    """Numbers as whole ones, whoever has counted."""
    return Counter(tuple(one if isinstance(one, str) else int(one) for one in row) for row in rows)


def _published(engine: Engine, day: date) -> dict[str, Rows]:
    with engine.connect() as connection:
        return {
            table: _plain(
                connection.execute(
                    text(
                        f"SELECT hour, domain, client_id, {columns} FROM {table} WHERE day = :day"
                    ),
                    {"day": day},
                ).all()
            )
            for table, columns in PUBLISHED.items()
        }


def _folder(engine: Engine, lake: Path, day: date) -> Path:
    query = text("SELECT run_id FROM lake_manifest WHERE day = :day")
    with engine.connect() as connection:
        run_id = connection.execute(query, {"day": day}).scalar_one()
    return lake / "messages" / f"dt={day}" / f"run={run_id}"
