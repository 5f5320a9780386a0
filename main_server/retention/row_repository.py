"""SQL for messages that are to go, and for what belongs to them. No column is read here that holds
a body, a number or what finds one, and rows are counted along an index that has none of these."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date

from sqlalchemy import BindParameter, Connection, bindparam, text

from main_server.retention.days import Span, day_of, end_of
from main_server.store.tables import STATUSES

_COUNT = text(
    "SELECT status, COUNT(*) FROM messages FORCE INDEX (ix_messages_status)"
    " WHERE status IN :statuses AND client_id = :client"
    " AND message_id >= :first AND message_id < :end GROUP BY status"
).bindparams(bindparam("statuses", expanding=True))
_IDS: BindParameter[list[bytes]] = bindparam("ids", expanding=True)


def oldest_by_client(connection: Connection, end: bytes) -> dict[str, bytes]:
    """Return the first message from before `end` of each client that has any: a look into the index
    for each client, however many messages there are."""
    query = text(
        "SELECT client_id, MIN(message_id) FROM messages FORCE INDEX (ix_messages_client)"
        " WHERE message_id < :end GROUP BY client_id"
    )
    return {row[0]: row[1] for row in connection.execute(query, {"end": end})}


def next_of_client(connection: Connection, client_id: str, span: Span) -> bytes | None:
    query = text(
        "SELECT MIN(message_id) FROM messages FORCE INDEX (ix_messages_client)"
        " WHERE client_id = :client AND message_id >= :first AND message_id < :end"
    )
    found: bytes | None = connection.scalar(
        query, {"client": client_id, "first": span.first, "end": span.end}
    )
    return found


def count_by_status(connection: Connection, client_id: str, span: Span) -> dict[str, int]:
    values = {"client": client_id, "first": span.first, "end": span.end, "statuses": STATUSES}
    return {row[0]: int(row[1]) for row in connection.execute(_COUNT, values)}


def count_redriven(connection: Connection, client_id: str, span: Span) -> int:
    """Count the waiting messages that were redriven: the other waiting ones have never come to an
    end."""
    query = text(
        "SELECT COUNT(*) FROM messages FORCE INDEX (ix_messages_status)"
        " WHERE status = 'queued' AND client_id = :client"
        " AND message_id >= :first AND message_id < :end AND generation > 0"
    )
    values = {"client": client_id, "first": span.first, "end": span.end}
    return int(connection.scalar(query, values) or 0)


def count_all(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT COUNT(*) FROM messages")) or 0)


def lock_ended(connection: Connection, client_id: str, span: Span, limit: int) -> list[bytes]:
    """Lock rows that have ended, and return their ids: as long as they are locked nobody lets one
    begin anew."""
    query = text(
        "SELECT message_id FROM messages FORCE INDEX (ix_messages_client)"
        " WHERE client_id = :client AND message_id >= :first AND message_id < :end"
        " AND status <> 'queued' ORDER BY message_id LIMIT :most FOR UPDATE"
    )
    values = {"client": client_id, "first": span.first, "end": span.end, "most": limit}
    return list(connection.execute(query, values).scalars())


def delete_messages(connection: Connection, ids: Sequence[bytes]) -> int:
    statement = text(
        "DELETE FROM messages WHERE message_id IN :ids AND status <> 'queued'"
    ).bindparams(_IDS)
    return connection.execute(statement, {"ids": ids}).rowcount


def delete_attempts(connection: Connection, ids: Sequence[bytes]) -> int:
    statement = text("DELETE FROM attempts WHERE message_id IN :ids").bindparams(_IDS)
    return connection.execute(statement, {"ids": ids}).rowcount


def days_with_attempts(connection: Connection, last: date) -> Iterator[date]:
    """Yield the days with attempts up to `last`, going along the key: what is between them isn't
    read."""
    query = text(
        "SELECT message_id FROM attempts WHERE message_id >= :first AND message_id < :end"
        " ORDER BY message_id LIMIT 1"
    )
    values = {"first": bytes(16), "end": end_of(last)}
    while (found := connection.scalar(query, values)) is not None:
        yield day_of(found)
        values["first"] = end_of(day_of(found))


def orphans(connection: Connection, span: Span, limit: int) -> list[bytes]:
    """Return messages of which only attempts are left: their settlement came when they had gone."""
    query = text(
        "SELECT DISTINCT a.message_id FROM attempts AS a"
        " LEFT JOIN messages AS m ON m.message_id = a.message_id"
        " WHERE a.message_id >= :first AND a.message_id < :end AND m.message_id IS NULL LIMIT :most"
    )
    values = {"first": span.first, "end": span.end, "most": limit}
    return list(connection.execute(query, values).scalars())


def delete_claims(connection: Connection, client_id: str, span: Span, limit: int) -> int:
    """Delete claims on Idempotency-Keys: whoever repeats one now sends another message."""
    statement = text(
        "DELETE FROM idempotency WHERE client_id = :client"
        " AND message_id >= :first AND message_id < :end LIMIT :most"
    )
    values = {"client": client_id, "first": span.first, "end": span.end, "most": limit}
    return connection.execute(statement, values).rowcount


def has_claims(connection: Connection, client_id: str, span: Span) -> bool:
    query = text(
        "SELECT 1 FROM idempotency WHERE client_id = :client"
        " AND message_id >= :first AND message_id < :end LIMIT 1"
    )
    values = {"client": client_id, "first": span.first, "end": span.end}
    return connection.execute(query, values).first() is not None


def sealed_days(connection: Connection, days: Collection[date]) -> set[date]:
    """Return the days that the pipeline has published, compared with the ledger, and won't read
    again."""
    if not days:
        return set()
    query = text(
        "SELECT day FROM lake_manifest WHERE sealed_at IS NOT NULL AND day IN :days"
    ).bindparams(bindparam("days", expanding=True))
    return set(connection.execute(query, {"days": list(days)}).scalars())


def last_published(connection: Connection, before: date) -> date | None:
    query = text("SELECT MAX(day) FROM lake_manifest WHERE day < :before")
    found: date | None = connection.scalar(query, {"before": before})
    return found


def lake_left(connection: Connection, last: date) -> list[date]:
    """Return the days up to `last` whose folder is still in the lake."""
    query = text(
        "SELECT day FROM lake_manifest WHERE day <= :last AND removed_at IS NULL ORDER BY day"
    )
    return list(connection.execute(query, {"last": last}).scalars())
