"""SQL for the messages of a client's day. A day is a range of ids, so it is read along the ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Connection, Select, case, func, select, update

from gatepost.ids import first_id_at
from main_server.keys.repository import Pair
from main_server.store.tables import messages


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row, with all that is needed to open its body."""

    message_id: bytes
    client_id: str
    domain: str
    key_id: int
    encrypted_body: bytes


def first_id_of(day: date) -> bytes:
    begins = datetime.combine(day, time(), tzinfo=UTC)
    return first_id_at(int(begins.timestamp()) * 1000)


def id_after(message_id: bytes) -> bytes:
    return (int.from_bytes(message_id, "big") + 1).to_bytes(16, "big")


def list_sealed(
    connection: Connection, pair: Pair, key_id: int, start: bytes, limit: int
) -> list[SealedRow]:
    """List the rows under a key, from an id on."""
    columns = [messages.c[name] for name in SealedRow.__slots__]
    query = _of_day(select(*columns), pair, start).where(
        messages.c.key_id == key_id, messages.c.encrypted_body.is_not(None)
    )
    query = query.order_by(messages.c.message_id).limit(limit)
    return [SealedRow(*row) for row in connection.execute(query)]


def change_bodies(
    connection: Connection, old_key_id: int, new_key_id: int, bodies: Mapping[bytes, bytes]
) -> None:
    """Give rows other bodies, unless they have lost or changed theirs meanwhile."""
    statement = (
        update(messages)
        .where(
            messages.c.message_id.in_(sorted(bodies)),
            messages.c.key_id == old_key_id,
            messages.c.encrypted_body.is_not(None),
        )
        .values(encrypted_body=case(dict(bodies), value=messages.c.message_id), key_id=new_key_id)
    )
    connection.execute(statement)


def list_ids(connection: Connection, pair: Pair, start: bytes, limit: int) -> list[bytes]:
    query = _of_day(select(messages.c.message_id), pair, start)
    query = query.order_by(messages.c.message_id).limit(limit)
    return list(connection.execute(query).scalars())


def erase(connection: Connection, ids: Sequence[bytes]) -> int:
    """Take body and number from rows; no row leaves the status erased or duplicate (I2)."""
    statement = (
        update(messages)
        .where(messages.c.message_id.in_(ids), messages.c.status.not_in(("erased", "duplicate")))
        .values(
            status="erased",
            encrypted_body=None,
            key_id=None,
            sender_number_hashed=None,
            hmac_kid=None,
        )
    )
    return connection.execute(statement).rowcount


def count_day(connection: Connection, pair: Pair) -> int:
    query = _of_day(select(func.count()).select_from(messages), pair, first_id_of(pair[1]))
    return int(connection.execute(query).scalar_one())


def count_by_status(connection: Connection, pair: Pair) -> dict[str, int]:
    query = _of_day(select(messages.c.status, func.count()), pair, first_id_of(pair[1]))
    return {row[0]: row[1] for row in connection.execute(query.group_by(messages.c.status))}


def _of_day(query: Select[Any], pair: Pair, start: bytes) -> Select[Any]:
    client_id, day = pair
    return query.where(
        messages.c.client_id == client_id,
        messages.c.message_id >= start,
        messages.c.message_id < first_id_of(day + timedelta(days=1)),
    )
