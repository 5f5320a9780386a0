"""The keyring: opens what the edge sealed, seals it again for rest, and hashes numbers.

A data key belongs to one client and one day of ids: destroying it ends that day of that client.
Rows are sealed with AES-256-GCM under a key derived from it and the message's id, and bound to the
id, the client, the domain and the key (I6).
"""

import hmac
import secrets
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, Engine, text

from gatepost.clock import from_ms
from gatepost.envelope import Envelope
from gatepost.errors import CannotOpen
from gatepost.ids import id_ms
from gatepost.sealing import CONTEXT_INFO, SUITE, SealingKey, additional_data, message_key, parse
from main_server.database import transact
from main_server.keys import repository
from main_server.keys.master import MasterKey
from main_server.keys.repository import WrappedDataKey, WrappedServiceKey

_NONCE = 12
_DATA_KEYS_HELD = 10_000


class DataKeys:
    """The data keys of some clients' days, unwrapped for one piece of work."""

    def __init__(self, keys: dict[tuple[str, date], tuple[int, bytes]]) -> None:
        self._keys = keys

    def seal(self, envelope: Envelope, content: bytes) -> tuple[int, bytes]:
        """The id of the key, and the content as a row keeps it."""
        key_id, key = self._keys[envelope.client_id, day_of(envelope.message_id)]
        nonce = secrets.token_bytes(_NONCE)
        cipher = AESGCM(_row_key(key, envelope.message_id))
        bound = _row_data(envelope.message_id, envelope.client_id, envelope.domain, key_id)
        return key_id, nonce + cipher.encrypt(nonce, content, bound)


class Keyring:
    """The unwrapped service keys of this process, and the way to the data keys."""

    def __init__(self, master: MasterKey, service_keys: Iterable[WrappedServiceKey]) -> None:
        self._master = master
        self._held: dict[tuple[str, date], tuple[int, bytes]] = {}
        self._held_by_id: dict[int, bytes] = {}
        self._private: dict[bytes, X25519PrivateKey] = {}
        self._current: dict[str, WrappedServiceKey] = {}
        self._macs: dict[bytes, bytes] = {}
        for key in service_keys:
            self._current.setdefault(key.purpose, key)
            secret = master.unwrap(key.wrapped, _purpose(key.purpose, key.kid))
            if key.purpose == "sealing":
                self._private[key.kid] = X25519PrivateKey.from_private_bytes(secret)
            else:
                self._macs[key.kid] = secret
        self._context_secret = lru_cache(maxsize=4096)(self._decapsulate)

    def sealing_key(self) -> SealingKey:
        """What the edge seals to."""
        key = self._current["sealing"]
        assert key.public is not None
        return SealingKey(key.kid, key.public)

    def edge_mac_key(self) -> bytes:
        """By which the edge names Idempotency-Keys and payloads. It opens nothing."""
        return self._macs[self._current["edge_mac"].kid]

    def open_envelope(self, envelope: Envelope) -> bytes:
        """The sealed content; raises CannotOpen if it or what it is bound to was altered."""
        sealed = parse(envelope.sealed)
        secret = self._context_secret(sealed.kid, sealed.encapsulated)
        cipher = AESGCM(message_key(secret, envelope.message_id))
        bound = additional_data(envelope.message_id, envelope.client_id, envelope.domain)
        try:
            return cipher.decrypt(sealed.nonce, sealed.ciphertext, bound)
        except InvalidTag:
            raise CannotOpen() from None

    def hash_number(self, domain: str, number: str) -> tuple[bytes, bytes]:
        """The key's id, and the MAC by which a number is found within its domain."""
        kid = self._current["number_mac"].kid
        text_of = f"{domain}\0{number}".encode()
        return kid, hmac.digest(self._macs[kid], text_of, sha256)

    def open_row(
        self,
        engine: Engine,
        message_id: UUID,
        client_id: str,
        domain: str,
        key_id: int,
        encrypted_body: bytes,
    ) -> bytes:
        """The content of a row; raises CannotOpen if the row was altered or its key destroyed."""
        key = self._data_key(engine, key_id)
        cipher = AESGCM(_row_key(key, message_id))
        bound = _row_data(message_id, client_id, domain, key_id)
        try:
            return cipher.decrypt(encrypted_body[:_NONCE], encrypted_body[_NONCE:], bound)
        except InvalidTag:
            raise CannotOpen() from None

    def _data_key(self, engine: Engine, key_id: int) -> bytes:
        held = self._held_by_id.get(key_id)
        if held is not None:
            return held
        wrapped = transact(engine, lambda c: repository.find_data_key(c, key_id))
        if wrapped is None:
            raise CannotOpen("The key of this message was destroyed.")
        return self._hold(wrapped)[1]

    def _hold(self, key: WrappedDataKey) -> tuple[int, bytes]:
        """Several threads come here: each goes on with what it has got, not with what is held."""
        if len(self._held_by_id) > _DATA_KEYS_HELD:
            self._held, self._held_by_id = {}, {}
        secret = self._master.unwrap(key.wrapped, _data_purpose(key.client_id, key.day))
        self._held[key.client_id, key.day] = key.key_id, secret
        self._held_by_id[key.key_id] = secret
        return key.key_id, secret

    def data_keys(self, engine: Engine, envelopes: Iterable[Envelope]) -> DataKeys:
        """Those that these messages need; made where a client's day begins.

        A key is used only after it has been read back from a transaction that was committed: a row
        sealed under a key that was rolled back could never be opened again.
        """
        wanted = {(e.client_id, day_of(e.message_id)) for e in envelopes}
        held = self._held
        keys = {pair: held[pair] for pair in wanted if pair in held}
        if missing := [pair for pair in wanted if pair not in keys]:
            transact(engine, lambda connection: self._make(connection, missing))
            for key in transact(engine, lambda c: repository.find_data_keys(c, missing)):
                keys[key.client_id, key.day] = self._hold(key)
        return DataKeys(keys)

    def _make(self, connection: Connection, pairs: list[tuple[str, date]]) -> None:
        found = {(k.client_id, k.day) for k in repository.find_data_keys(connection, pairs)}
        now = datetime.now(UTC).replace(tzinfo=None)
        for client_id, day in sorted(set(pairs) - found):
            wrapped = self._master.wrap(secrets.token_bytes(32), _data_purpose(client_id, day))
            repository.add_data_key(connection, client_id, day, self._master.kid, wrapped, now)

    def _decapsulate(self, kid: bytes, encapsulated: bytes) -> bytes:
        private = self._private.get(kid)
        if private is None:
            raise CannotOpen("The sealing key of this message is not known here.")
        try:
            return SUITE.decrypt(encapsulated, private, info=CONTEXT_INFO)
        except (InvalidTag, ValueError):
            raise CannotOpen() from None


def load_keyring(connection: Connection, master: MasterKey) -> Keyring:
    """Makes the service keys that are missing; one process at a time."""
    if not connection.scalar(text("SELECT GET_LOCK('gatepost.keys', 10)")):
        raise TimeoutError("another process is making the keys, and does not end")
    try:
        stored = {key.purpose for key in repository.list_service_keys(connection)}
        for purpose in ("sealing", "number_mac", "edge_mac"):
            if purpose not in stored:
                new = _new_service_key(master, purpose)
                now = datetime.now(UTC).replace(tzinfo=None)
                repository.add_service_key(connection, new, master.kid, now)
        connection.commit()
        return Keyring(master, repository.list_service_keys(connection))
    finally:
        connection.execute(text("SELECT RELEASE_LOCK('gatepost.keys')"))


def day_of(message_id: UUID) -> date:
    """The UTC day in a message's id decides its data key."""
    return from_ms(id_ms(message_id)).date()


def _new_service_key(master: MasterKey, purpose: str) -> WrappedServiceKey:
    kid, secret, public = secrets.token_bytes(8), secrets.token_bytes(32), None
    if purpose == "sealing":
        private = X25519PrivateKey.generate()
        secret, public = private.private_bytes_raw(), private.public_key().public_bytes_raw()
    return WrappedServiceKey(kid, purpose, master.wrap(secret, _purpose(purpose, kid)), public)


def _row_key(data_key: bytes, message_id: UUID) -> bytes:
    info = b"gatepost row key v1" + message_id.bytes
    return HKDF(SHA256(), 32, salt=None, info=info).derive(data_key)


def _row_data(message_id: UUID, client_id: str, domain: str, key_id: int) -> bytes:
    return additional_data(message_id, client_id, domain) + b"\0" + str(key_id).encode()


def _purpose(purpose: str, kid: bytes) -> bytes:
    return f"gatepost {purpose} key ".encode() + kid


def _data_purpose(client_id: str, day: date) -> bytes:
    return f"gatepost data key {client_id} {day.isoformat()}".encode()
