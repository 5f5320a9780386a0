"""SQL for tokens."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity, Role
from main_server.store.tables import certificates, enrolment_tokens


@dataclass(frozen=True, slots=True)
class Kept:
    token_hash: bytes
    domain: str
    name: str
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    withdrawn_at: datetime | None
    serial: str | None

    @property
    def identity(self) -> Identity:
        return Identity(self.domain, Role.CLIENT, self.name)


_T = enrolment_tokens.c
_COLUMNS = [_T[name] for name in Kept.__slots__]


def add_token(
    connection: Connection,
    digest: bytes,
    identity: Identity,
    now: datetime,
    expires_at: datetime,
    actor: str,
) -> None:
    connection.execute(
        insert(enrolment_tokens).values(
            token_hash=digest,
            domain=identity.domain,
            name=identity.name,
            created_at=from_ms(to_ms(now)),
            expires_at=from_ms(to_ms(expires_at)),
            actor=actor,
        )
    )


def find_token(connection: Connection, digest: bytes, *, lock: bool = False) -> Kept | None:
    query = select(*_COLUMNS).where(_T.token_hash == digest)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Kept(*row) if row else None


def list_tokens(
    connection: Connection,
    domain: str | None,
    limit: int,
    name: str | None = None,
    after: tuple[datetime, bytes] | None = None,
) -> list[Kept]:
    """List tokens, the latest first; `after` is when the last one that is known was made, and its
    digest."""
    query = select(*_COLUMNS).order_by(_T.created_at.desc(), _T.token_hash).limit(limit)
    if domain is not None:
        query = query.where(_T.domain == domain)
    if name is not None:
        query = query.where(_T.name == name)
    if after is not None:
        behind = and_(_T.created_at == after[0], _T.token_hash > after[1])
        query = query.where(or_(_T.created_at < after[0], behind))
    return [Kept(*row) for row in connection.execute(query)]


def use_token(connection: Connection, digest: bytes, serial: str, now: datetime) -> None:
    statement = update(enrolment_tokens).where(_T.token_hash == digest)
    connection.execute(statement.values(used_at=from_ms(to_ms(now)), serial=serial))


def withdraw_token(connection: Connection, digest: bytes, now: datetime) -> None:
    statement = update(enrolment_tokens).where(_T.token_hash == digest)
    connection.execute(statement.values(withdrawn_at=from_ms(to_ms(now))))


def withdraw_open(connection: Connection, identity: Identity, now: datetime) -> int:
    """Withdraw a client's tokens that a certificate could still come of; return how many there
    were."""
    return _withdraw(connection, _of(identity), now)


def withdraw_made_by(connection: Connection, actors: Collection[str], now: datetime) -> int:
    """Withdraw the tokens that these actors have made and that a certificate could still come of;
    return how many there were."""
    return _withdraw(connection, [_T.actor.in_(actors)], now) if actors else 0


def count_open(connection: Connection, identity: Identity, now: datetime) -> int:
    """Count the tokens that `withdraw_open` would withdraw."""
    query = select(func.count()).where(*_of(identity), *_open(from_ms(to_ms(now))))
    return connection.execute(query).scalar_one()


def count_made_by(connection: Connection, actors: Collection[str], now: datetime) -> int:
    """Count the tokens that `withdraw_made_by` would withdraw."""
    query = select(func.count()).where(_T.actor.in_(actors), *_open(from_ms(to_ms(now))))
    return connection.execute(query).scalar_one()


def _withdraw(connection: Connection, which: list[ColumnElement[bool]], now: datetime) -> int:
    moment = from_ms(to_ms(now))
    statement = update(enrolment_tokens).where(*which, *_open(moment))
    return connection.execute(statement.values(withdrawn_at=moment)).rowcount


def _of(identity: Identity) -> list[ColumnElement[bool]]:
    return [_T.domain == identity.domain, _T.name == identity.name]


def _open(moment: datetime) -> list[ColumnElement[bool]]:
    begun = select(certificates.c.serial).where(certificates.c.status == "intended")
    return [
        _T.withdrawn_at.is_(None),
        _T.expires_at > moment,
        or_(_T.used_at.is_(None), _T.serial.in_(begun)),
    ]


def is_intended(connection: Connection, serial: str) -> bool:
    """Tell whether the certificate of that serial was begun, and doesn't count yet."""
    c = certificates.c
    query = select(c.serial).where(c.serial == serial, c.status == "intended")
    return connection.execute(query).first() is not None


def find_der(connection: Connection, serial: str, public_key: bytes) -> bytes | None:
    """Return the certificate of that serial, if it is active and certifies that key."""
    c = certificates.c
    query = select(c.der).where(
        c.serial == serial, c.public_key == public_key, c.status == "active"
    )
    return connection.execute(query).scalar_one_or_none()
