"""SQL for the second step. The secret is sealed under a service key; nothing here can open it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.mysql import insert as upsert

from main_server.store.tables import recovery_codes, totp_secrets


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Somebody's authenticator; until it is confirmed by a first code it counts for nothing. Codes
    of `last_step` and before were used; `wrong` counts the wrong ones, the last of them given at
    `wrong_at`."""

    user_id: bytes
    kid: bytes
    sealed: bytes
    last_step: int
    created_at: datetime
    confirmed_at: datetime | None
    wrong: int = 0
    wrong_at: datetime | None = None


_COLUMNS = [totp_secrets.c[name] for name in Authenticator.__slots__]


def find(connection: Connection, user_id: bytes, *, lock: bool = False) -> Authenticator | None:
    query = select(*_COLUMNS).where(totp_secrets.c.user_id == user_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Authenticator(*row) if row else None


def confirmed_at(connection: Connection, user_id: bytes) -> datetime | None:
    """Return since when this person has an authenticator that counts."""
    query = select(totp_secrets.c.confirmed_at).where(totp_secrets.c.user_id == user_id)
    found: datetime | None = connection.execute(query).scalar()
    return found


def list_confirmed(connection: Connection, user_ids: Collection[bytes]) -> set[bytes]:
    """Return those of these people who have an authenticator that counts."""
    c = totp_secrets.c
    query = select(c.user_id).where(c.user_id.in_(user_ids), c.confirmed_at.is_not(None))
    return set(connection.execute(query).scalars())


def put(connection: Connection, new: Authenticator) -> None:
    """Store an authenticator in the place of one that was not confirmed, or of none."""
    row = {name: getattr(new, name) for name in Authenticator.__slots__}
    connection.execute(upsert(totp_secrets).values(row).on_duplicate_key_update(row))


def use(connection: Connection, user_id: bytes, step: int) -> None:
    where = totp_secrets.c.user_id == user_id
    connection.execute(update(totp_secrets).where(where).values(last_step=step))


def count_wrong(connection: Connection, user_id: bytes, wrong: int, now: datetime) -> None:
    where = totp_secrets.c.user_id == user_id
    connection.execute(update(totp_secrets).where(where).values(wrong=wrong, wrong_at=now))


def confirm(connection: Connection, user_id: bytes, now: datetime) -> None:
    where = totp_secrets.c.user_id == user_id
    connection.execute(update(totp_secrets).where(where).values(confirmed_at=now))


def remove(connection: Connection, user_id: bytes) -> None:
    for table in (totp_secrets, recovery_codes):
        connection.execute(delete(table).where(table.c.user_id == user_id))


def put_recovery_codes(connection: Connection, user_id: bytes, digests: Iterable[bytes]) -> None:
    """Store a person's recovery codes, the only ones that count: those from before are gone."""
    connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    rows = [{"user_id": user_id, "code_hash": one} for one in digests]
    connection.execute(insert(recovery_codes), rows)


def use_recovery_code(connection: Connection, user_id: bytes, digest: bytes, now: datetime) -> bool:
    """Use a recovery code up; return whether it is one that was not used yet."""
    c = recovery_codes.c
    where = (c.user_id == user_id, c.code_hash == digest, c.used_at.is_(None))
    done = connection.execute(update(recovery_codes).where(*where).values(used_at=now))
    return bool(done.rowcount)


def count_recovery_codes(connection: Connection, user_id: bytes) -> int:
    c = recovery_codes.c
    query = select(func.count()).where(c.user_id == user_id, c.used_at.is_(None))
    return int(connection.execute(query).scalar_one())
