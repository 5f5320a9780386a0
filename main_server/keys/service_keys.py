"""Service keys: those by which the edge seals, numbers are found, the edge names repeats, people's
access tokens are signed, and the secrets of their authenticators are sealed.

One key of each purpose is current. A sealing key is replaced every day, and the private half of the
old one destroyed as soon as nothing can be left that only it opens; no copy of what was sent before
can be opened then. One of several main servers does it: all change keys under the same lock.
"""

import secrets
from collections.abc import Iterable
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from sqlalchemy import Connection, Engine

from main_server.key_file import KEY_BYTES
from main_server.keys import repository
from main_server.keys.destroyed_repository import DestroyedKey, add_destroyed
from main_server.keys.lifetimes import dies_at, is_due
from main_server.keys.master import MasterKey, MasterKeys, service_purpose
from main_server.keys.repository import ServiceKey
from main_server.store.database import transact

PURPOSES = ("sealing", "number_mac", "edge_mac", "access_token", "totp")


def begin(engine: Engine, masters: MasterKeys) -> None:
    """Make the keys that a new ledger lacks."""

    def work(connection: Connection) -> None:
        now = repository.read_time(connection)
        repository.begin_master(connection, masters.newest.kid, now)
        master = masters.get(repository.own_master(connection))
        keys = repository.list_service_keys(connection)
        current = {key.purpose for key in keys if key.retired_at is None}
        for purpose in PURPOSES:
            if purpose not in current:
                repository.add_service_key(connection, new_service_key(master, purpose, now))

    transact(engine, work)


def replace(engine: Engine, masters: MasterKeys, purpose: str) -> ServiceKey:
    """Make a new current key; what was made under the old one can still be opened or found."""
    return transact(engine, lambda connection: _replace(connection, masters, purpose))


def replace_if_due(engine: Engine, masters: MasterKeys) -> ServiceKey | None:
    """Replace the sealing key if its daily turn has come; None if it hasn't."""

    def work(connection: Connection) -> ServiceKey | None:
        repository.own_master(connection)
        now = repository.read_time(connection)
        current = current_of(repository.list_service_keys(connection), "sealing")
        if not is_due(current.created_at, now):
            return None
        return _replace(connection, masters, "sealing")

    return transact(engine, work)


def destroy_dead(engine: Engine) -> list[ServiceKey]:
    """Destroy the sealing keys whose time has come, and return them."""

    def work(connection: Connection) -> list[ServiceKey]:
        repository.own_master(connection)
        now = repository.read_time(connection)
        dead = dead_among(repository.list_service_keys(connection), now)
        for key in dead:
            listed = DestroyedKey("sealing", key.kid, None, None, "retired", now, now)
            add_destroyed(connection, listed)
            repository.delete_service_key(connection, key)
        return dead

    return transact(engine, work)


def current_of(keys: Iterable[ServiceKey], purpose: str) -> ServiceKey:
    return next(key for key in keys if key.purpose == purpose and key.retired_at is None)


def dead_among(keys: Iterable[ServiceKey], now: datetime) -> list[ServiceKey]:
    return [
        key
        for key in keys
        if key.purpose == "sealing"
        and key.retired_at is not None
        and dies_at(key.created_at, key.retired_at) <= now
    ]


def new_service_key(master: MasterKey, purpose: str, now: datetime) -> ServiceKey:
    kid, secret, public = secrets.token_bytes(8), secrets.token_bytes(KEY_BYTES), None
    private: X25519PrivateKey | Ed25519PrivateKey | None = None
    if purpose == "sealing":
        private = X25519PrivateKey.generate()
    elif purpose == "access_token":
        private = Ed25519PrivateKey.generate()
    if private is not None:
        secret, public = private.private_bytes_raw(), private.public_key().public_bytes_raw()
    wrapped = master.wrap(secret, service_purpose(purpose, kid))
    return ServiceKey(kid, purpose, master.kid, wrapped, public, now)


def unwrap_service_key(masters: MasterKeys, key: ServiceKey) -> bytes:
    master = masters.get(key.master_kid)
    return master.unwrap(key.wrapped, service_purpose(key.purpose, key.kid))


def _replace(connection: Connection, masters: MasterKeys, purpose: str) -> ServiceKey:
    master = masters.get(repository.own_master(connection))
    now = repository.read_time(connection)
    new = new_service_key(master, purpose, now)
    repository.retire_service_keys(connection, purpose, now)
    repository.add_service_key(connection, new)
    return new
