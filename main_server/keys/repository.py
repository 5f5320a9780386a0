"""SQL for keys. What is stored is wrapped; nothing here can open it.

One row says which master key wraps. Whoever adds a key shares that row in its transaction, whoever
changes, replaces or destroys keys owns it: so no key is ever added under a master key that is on
its way out, or for a day that was destroyed.

Rows are locked in this order: that one, data keys, messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update
from sqlalchemy.dialects.mysql import insert

from gatepost.errors import KeysUnavailable
from main_server.store.tables import current_master, data_keys, service_keys

Pair = tuple[str, date]
"""A client and a day of message ids."""


@dataclass(frozen=True, slots=True)
class DataKey:
    key_id: int
    client_id: str
    day: date
    state: str
    master_kid: bytes
    wrapped: bytes
    created_at: datetime

    @property
    def pair(self) -> Pair:
        return self.client_id, self.day


@dataclass(frozen=True, slots=True)
class ServiceKey:
    kid: bytes
    purpose: str
    master_kid: bytes
    wrapped: bytes
    public: bytes | None
    created_at: datetime
    retired_at: datetime | None = None


_data_columns = [data_keys.c[name] for name in DataKey.__slots__]
_CURRENT = (  # finds a few more than asked for: each of the clients with each of the days
    data_keys.c.client_id.in_(bindparam("clients", expanding=True)),
    data_keys.c.day.in_(bindparam("days", expanding=True)),
    data_keys.c.state == "current",
)
_HOLD = (
    select(data_keys.c.client_id, data_keys.c.day, data_keys.c.key_id)
    .where(*_CURRENT)
    .with_for_update(read=True)
)
_service_columns = [service_keys.c[name] for name in ServiceKey.__slots__]


def read_time(connection: Connection) -> datetime:
    """Return the time of the ledger's clock, by which keys age: all main servers have the same."""
    now: datetime = connection.execute(select(func.utc_timestamp(3))).scalar_one()
    return now


def begin_master(connection: Connection, kid: bytes, now: datetime) -> None:
    """Note which master key wraps from the first day on; the first server to come decides."""
    statement = insert(current_master).values(one=1, kid=kid, changed_at=now)
    connection.execute(statement.on_duplicate_key_update(one=current_master.c.one))


def share_master(connection: Connection) -> bytes:
    return _lock_master(connection, read=True)


def own_master(connection: Connection) -> bytes:
    """Return the current master key's id, after waiting for all who are adding keys; nobody else
    adds any until this transaction ends."""
    return _lock_master(connection, read=False)


def _lock_master(connection: Connection, *, read: bool) -> bytes:
    query = select(current_master.c.kid).where(current_master.c.one == 1)
    kid: bytes | None = connection.execute(query.with_for_update(read=read)).scalar()
    if kid is None:
        raise KeysUnavailable("This ledger has no keys yet: the main server makes them.")
    return kid


def find_master(connection: Connection) -> bytes | None:
    kid: bytes | None = connection.execute(select(current_master.c.kid)).scalar()
    return kid


def change_master(connection: Connection, kid: bytes, now: datetime) -> None:
    connection.execute(update(current_master).values(kid=kid, changed_at=now))


def find_data_keys(connection: Connection, wanted: Iterable[Pair]) -> list[DataKey]:
    """Return the current keys of these clients' days."""
    pairs = set(wanted)
    query = select(*_data_columns).where(*_CURRENT)
    found = [DataKey(*row) for row in connection.execute(query, _of(pairs))]
    return [key for key in found if key.pair in pairs]


def hold_data_keys(connection: Connection, wanted: set[Pair]) -> dict[Pair, int]:
    """Return the ids of the current keys, which stay current until this transaction ends."""
    found = {(row[0], row[1]): row[2] for row in connection.execute(_HOLD, _of(wanted))}
    return {pair: key_id for pair, key_id in found.items() if pair in wanted}


def _of(pairs: set[Pair]) -> dict[str, list[Any]]:
    return {"clients": list({pair[0] for pair in pairs}), "days": list({pair[1] for pair in pairs})}


def find_data_key(connection: Connection, key_id: int) -> DataKey | None:
    row = connection.execute(select(*_data_columns).where(data_keys.c.key_id == key_id)).first()
    return DataKey(*row) if row else None


def lock_day(connection: Connection, pair: Pair) -> dict[str, DataKey]:
    """Lock the keys of a client's day, and return them by state; wait for all who hold one."""
    client_id, day = pair
    query = select(*_data_columns).where(data_keys.c.client_id == client_id, data_keys.c.day == day)
    found = [DataKey(*row) for row in connection.execute(query.with_for_update())]
    return {key.state: key for key in found}


def list_data_keys(
    connection: Connection, client_id: str | None = None, day: date | None = None
) -> list[DataKey]:
    query = select(*_data_columns).order_by(
        data_keys.c.client_id, data_keys.c.day, data_keys.c.state
    )
    if client_id is not None:
        query = query.where(data_keys.c.client_id == client_id)
    if day is not None:
        query = query.where(data_keys.c.day == day)
    return [DataKey(*row) for row in connection.execute(query)]


def count_by_day(connection: Connection, last: date) -> dict[Pair, int]:
    """Count the keys that each client has of each day up to `last`."""
    c = data_keys.c
    query = select(c.client_id, c.day, func.count()).where(c.day <= last)
    rows = connection.execute(query.group_by(c.client_id, c.day))
    return {(row[0], row[1]): row[2] for row in rows}


def newest_data_keys(connection: Connection) -> tuple[int, datetime | None]:
    """Return how many data keys there are, and when the last was made: another answer means other
    keys."""
    query = select(func.count(), func.max(data_keys.c.created_at))
    count, newest = connection.execute(query).one()
    return int(count), newest


def add_data_keys(connection: Connection, keys: Sequence[DataKey]) -> None:
    """Add data keys. The first one of a day stays: another process may have made it at the same
    time."""
    rows = [{name: getattr(key, name) for name in DataKey.__slots__} for key in keys]
    statement = insert(data_keys)
    connection.execute(statement.on_duplicate_key_update(client_id=data_keys.c.client_id), rows)


def retire_data_key(connection: Connection, key_id: int) -> None:
    connection.execute(
        update(data_keys).where(data_keys.c.key_id == key_id).values(state="retired")
    )


def delete_data_key(connection: Connection, key: DataKey) -> None:
    """Delete a data key, overwritten in its place first: a deleted row stays readable in the file
    for a while."""
    where = data_keys.c.key_id == key.key_id
    connection.execute(update(data_keys).where(where).values(wrapped=bytes(len(key.wrapped))))
    connection.execute(delete(data_keys).where(where))


def list_service_keys(connection: Connection) -> list[ServiceKey]:
    """List the service keys, newest first."""
    query = select(*_service_columns).order_by(service_keys.c.created_at.desc(), service_keys.c.kid)
    return [ServiceKey(*row) for row in connection.execute(query)]


def add_service_key(connection: Connection, key: ServiceKey) -> None:
    row = {name: getattr(key, name) for name in ServiceKey.__slots__}
    statement = insert(service_keys).values(row)
    connection.execute(statement.on_duplicate_key_update(kid=service_keys.c.kid))


def retire_service_keys(connection: Connection, purpose: str, now: datetime) -> None:
    c = service_keys.c
    current = (c.purpose == purpose, c.retired_at.is_(None))
    connection.execute(update(service_keys).where(*current).values(retired_at=now))


def delete_service_key(connection: Connection, key: ServiceKey) -> None:
    """Delete a service key, overwritten first as a data key is."""
    where = service_keys.c.kid == key.kid
    connection.execute(update(service_keys).where(where).values(wrapped=bytes(len(key.wrapped))))
    connection.execute(delete(service_keys).where(where))
