"""Data keys: one for a client and a day of message ids; destroying it ends that day.

A row may be sealed only under a key that is held: locked, in the transaction that writes the row,
as its day's current one. Whoever replaces or destroys a key waits for those who hold it. So no row
is ever written under a key that is on its way out, however long the writer was asleep (I1).

Nothing read here is believed for longer than half a minute.
"""

import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import Connection, Engine

from gatepost.clock import from_ms
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.ids import id_ms
from gatepost.wire.envelope import Envelope
from main_server.key_file import KEY_BYTES
from main_server.keys import repository
from main_server.keys.destroyed_repository import erased_days, find_destroyed, kid_of
from main_server.keys.master import MasterKey, MasterKeys, data_purpose
from main_server.keys.repository import DataKey, Pair
from main_server.keys.rows.form import seal_row
from main_server.store.database import transact

BELIEVED_SECONDS = 30.0
_KEPT = 10_000


def day_of(message_id: UUID) -> date:
    """Return the UTC day in a message's id, which decides its data key."""
    return from_ms(id_ms(message_id)).date()


def new_data_key(master: MasterKey, pair: Pair, now: datetime) -> DataKey:
    """Make a data key. Ids are random, so that none comes back when a backup is restored."""
    key_id, (client_id, day) = secrets.randbits(63), pair
    wrapped = master.wrap(secrets.token_bytes(KEY_BYTES), data_purpose(key_id, client_id, day))
    return DataKey(key_id, client_id, day, "current", master.kid, wrapped, now)


def unwrap(masters: MasterKeys, key: DataKey) -> bytes:
    master = masters.get(key.master_kid)
    return master.unwrap(key.wrapped, data_purpose(key.key_id, key.client_id, key.day))


def hold_days(connection: Connection, pairs: set[Pair]) -> dict[Pair, int]:
    """Return the ids of these days' keys, which nobody replaces or destroys until this transaction
    ends. A day that isn't among them has no key any more."""
    held: dict[Pair, int] = {}
    for _ in range(2):  # a read that had to wait while a key was replaced has missed the new one
        if missing := pairs - set(held):
            held |= repository.hold_data_keys(connection, missing)
    return held


class HeldKeys:
    """Keys that stay current until the transaction ends in which they were asked for."""

    def __init__(self, keys: dict[Pair, tuple[int, bytes]]) -> None:
        self._keys = keys

    def covers(self, envelope: Envelope) -> bool:
        """Tell whether this message may have a body: not on a day that was erased, nor under a key
        that can't be unwrapped."""
        return _pair_of(envelope) in self._keys

    def seal(self, envelope: Envelope, content: bytes) -> tuple[int, bytes]:
        """Return the id of the key, and the content as a row keeps it."""
        key_id, key = self._keys[_pair_of(envelope)]
        message_id, client_id, domain = envelope.message_id, envelope.client_id, envelope.domain
        return key_id, seal_row(key, key_id, message_id, client_id, domain, content)


class DataKeys:
    """The days of some messages, each of which has a key by now."""

    def __init__(self, keyring: "DataKeyring", pairs: set[Pair]) -> None:
        self._keyring = keyring
        self._pairs = pairs

    def hold(self, connection: Connection) -> HeldKeys:
        """Hold the keys for the rows that are written in this transaction."""
        held = hold_days(connection, self._pairs)
        missing = self._pairs - set(held)
        if missing and missing != erased_days(connection, missing):
            raise KeysUnavailable("A data key is being replaced just now.")
        return HeldKeys(self._opened(connection, held))

    def _opened(
        self, connection: Connection, held: dict[Pair, int]
    ) -> dict[Pair, tuple[int, bytes]]:
        """Return the keys without those that can't be unwrapped: the other days of a batch don't
        wait for them."""
        keys = {}
        for pair, key_id in held.items():
            with suppress(KeysUnavailable):
                keys[pair] = key_id, self._keyring.open(connection, key_id)
        return keys


class DataKeyring:
    """The access of one process to the data keys."""

    def __init__(self, masters: MasterKeys) -> None:
        self._masters = masters
        self._made: dict[Pair, float] = {}
        self._opened: dict[int, tuple[bytes, float]] = {}

    def prepare(self, engine: Engine, envelopes: Iterable[Envelope]) -> DataKeys:
        """Make the keys of days that begin, in a transaction of its own."""
        pairs = {_pair_of(envelope) for envelope in envelopes}
        now = time.monotonic()
        doubtful = [pair for pair in pairs if self._made.get(pair, 0.0) < now]
        if doubtful:
            transact(engine, lambda connection: self._make(connection, doubtful))
            self._made |= dict.fromkeys(doubtful, now + BELIEVED_SECONDS)
        return DataKeys(self, pairs)

    def read(self, engine: Engine, key_id: int) -> bytes:
        """Return the key to open a row with. Raise CannotOpen only if it is known to be
        destroyed."""
        return self._opened_before(key_id) or transact(engine, lambda c: self.open(c, key_id))

    def open(self, connection: Connection, key_id: int) -> bytes:
        """Return a key as `read` does, in a transaction that is under way."""
        known = self._opened_before(key_id)
        if known is None:
            known = unwrap(self._masters, _find(connection, key_id))
            self._opened[key_id] = known, time.monotonic() + BELIEVED_SECONDS
        return known

    def _opened_before(self, key_id: int) -> bytes | None:
        key, until = self._opened.get(key_id, (None, 0.0))
        return key if until >= time.monotonic() else None

    def forget(self) -> None:
        """Let go of what is old, and of everything if there is very much."""
        now = time.monotonic()
        self._made = {p: until for p, until in list(self._made.items()) if until >= now}
        self._opened = {k: one for k, one in list(self._opened.items()) if one[1] >= now}
        if len(self._made) + len(self._opened) > _KEPT:
            self._made, self._opened = {}, {}

    def _make(self, connection: Connection, pairs: list[Pair]) -> None:
        lacking = set(pairs) - {key.pair for key in repository.find_data_keys(connection, pairs)}
        if not lacking:
            return
        master = self._masters.get(repository.share_master(connection))
        lacking -= erased_days(connection, lacking)
        now = repository.read_time(connection)
        keys = [new_data_key(master, pair, now) for pair in sorted(lacking)]
        if keys:
            repository.add_data_keys(connection, keys)


def _find(connection: Connection, key_id: int) -> DataKey:
    key = repository.find_data_key(connection, key_id)
    if key is not None:
        return key
    destroyed = find_destroyed(connection, "data", kid_of(key_id))
    if destroyed is None:
        raise KeysUnavailable("The key of a message is not there. Restore the key backup.")
    if destroyed.cause == "reencrypted":
        raise KeysUnavailable("The message was given another key just now. Read it again.")
    raise CannotOpen("The key of this message was destroyed.")


def _pair_of(envelope: Envelope) -> Pair:
    return envelope.client_id, day_of(envelope.message_id)
