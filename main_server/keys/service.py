"""The keyring of one process: it opens what the edge sealed, seals and opens rows, hashes numbers.

Several main servers change keys side by side, so what isn't known here is looked up before it is
called unreadable; and what was destroyed elsewhere is forgotten here within seconds.
"""

import hmac
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Engine

from gatepost.clock import to_ms
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.service.access_tokens import Signer
from gatepost.trust.sealing import (
    CONTEXT_INFO,
    SUITE,
    SealingKey,
    additional_data,
    message_key,
    parse,
)
from gatepost.wire.envelope import Envelope
from main_server.keys import repository, service_keys
from main_server.keys.data_keys import DataKeyring, DataKeys
from main_server.keys.lifetimes import TOKEN_KEY_AFTERLIFE, use_until
from main_server.keys.master import MasterKey, MasterKeys
from main_server.keys.repository import ServiceKey
from main_server.keys.rows.form import open_row
from main_server.store.database import transact

_ABSENT_SECONDS = 5.0
_ABSENT_KEPT = 1_000
_CONTEXTS = 4096


class Keyring:
    """A process's keyring. Several threads use it: what it knows of the service keys is exchanged
    whole."""

    def __init__(self, masters: MasterKeys, read: Callable[[], Sequence[ServiceKey]]) -> None:
        self.masters = masters
        self._read = read
        self._reading = threading.Lock()
        self._absent: dict[bytes, float] = {}
        self._known = _unwrap_all(masters, read())
        self._data = DataKeyring(masters)

    @property
    def service_keys(self) -> Sequence[ServiceKey]:
        """The service keys as they are stored, newest first."""
        return self._known.stored

    @property
    def problem(self) -> str | None:
        """A problem that operators should know of: messages wait for a key that is there and can't
        be used."""
        if not self._known.locked:
            return None
        kids = ", ".join(sorted(kid.hex() for kid in self._known.locked))
        return f"these keys can't be unwrapped, their messages wait: {kids}; restore the backup"

    def sealing_key(self) -> SealingKey:
        """Return what the edge seals to, and how long it may."""
        key = service_keys.current_of(self._known.stored, "sealing")
        assert key.public is not None
        return SealingKey(key.kid, key.public, to_ms(use_until(key.created_at)))

    def edge_mac_key(self) -> bytes:
        """Return the key by which the edge names Idempotency-Keys and payloads. It opens
        nothing."""
        return self._known.macs[service_keys.current_of(self._known.stored, "edge_mac").kid]

    def token_signer(self) -> Signer:
        """Return the signer of access tokens."""
        known = self._known
        kid = service_keys.current_of(known.stored, "access_token").kid
        return Signer(kid.hex(), known.signing[kid])

    def token_keys(self, now: datetime) -> dict[str, Ed25519PublicKey]:
        """Return the keys that verify access tokens at this (naive, UTC) time, by their names."""
        known = self._known
        return {
            key.kid.hex(): known.signing[key.kid].public_key()
            for key in known.stored
            if key.kid in known.signing
            and (key.retired_at is None or now < key.retired_at + TOKEN_KEY_AFTERLIFE)
        }

    def seal_totp(self, user_id: bytes, secret: bytes) -> tuple[bytes, bytes]:
        """Return the key's id, and the secret of somebody's authenticator, sealed and bound to
        them."""
        kid = service_keys.current_of(self._known.stored, "totp").kid
        return kid, self._known.totp[kid].wrap(secret, _totp_purpose(user_id))

    def open_totp(self, user_id: bytes, kid: bytes, sealed: bytes) -> bytes:
        """Return the secret of somebody's authenticator; raise KeysUnavailable if it can't be
        opened."""
        known = self._known if kid in self._known.totp else self._reload()
        if kid not in known.totp:
            raise KeysUnavailable("The key of this authenticator is not there: restore the backup.")
        return known.totp[kid].unwrap(sealed, _totp_purpose(user_id))

    def open_envelope(self, envelope: Envelope) -> bytes:
        """Return the content that was sealed.

        Raise CannotOpen if it never can be opened: it was altered, or its key is no more. Raise
        KeysUnavailable if that can't be told now.
        """
        sealed = parse(envelope.sealed)
        secret = self._knowing(sealed.kid).contexts(sealed.kid, sealed.encapsulated)
        cipher = AESGCM(message_key(secret, envelope.message_id))
        bound = additional_data(envelope.message_id, envelope.client_id, envelope.domain)
        try:
            return cipher.decrypt(sealed.nonce, sealed.ciphertext, bound)
        except InvalidTag:
            raise CannotOpen() from None

    def hash_number(self, domain: str, number: str) -> tuple[bytes, bytes]:
        """Return the key's id, and the MAC by which a number is found within its domain."""
        kid = service_keys.current_of(self._known.stored, "number_mac").kid
        return kid, _number_mac(self._known.macs[kid], domain, number)

    def number_hashes(self, domain: str, number: str) -> list[tuple[bytes, bytes]]:
        """Return all hashes that a row of this number may carry, the newest key's first: for a
        search."""
        known = self._known
        kids = [key.kid for key in known.stored if key.purpose == "number_mac"]
        return [
            (kid, _number_mac(known.macs[kid], domain, number)) for kid in kids if kid in known.macs
        ]

    def data_keys(self, engine: Engine, envelopes: Iterable[Envelope]) -> DataKeys:
        """Return the keys for the rows of these messages; they are made where a client's day
        begins."""
        return self._data.prepare(engine, envelopes)

    def open_row(
        self,
        engine: Engine,
        message_id: UUID,
        client_id: str,
        domain: str,
        key_id: int,
        encrypted_body: bytes,
    ) -> bytes:
        """Return the content of a row. Raise as open_envelope does."""
        key = self._data.read(engine, key_id)
        return open_row(key, key_id, message_id, client_id, domain, encrypted_body)

    def refresh(self) -> None:
        """Forget what is old, and read service keys and master keys again."""
        self._data.forget()
        self._reload()
        self.masters.refresh()

    def _knowing(self, kid: bytes) -> "_Known":
        """Return the service keys, this sealing key among them."""
        known = self._known
        if kid not in known.private:
            if self._absent.get(kid, 0.0) < time.monotonic():
                known = self._reload()
            if kid in known.locked:
                raise KeysUnavailable()
            if kid not in known.private:
                self._note_absent(kid)
                raise CannotOpen("The sealing key of this message is not known here.")
        return known

    def _note_absent(self, kid: bytes) -> None:
        """Note that a key isn't there, so that many messages under it cost one look into the
        ledger."""
        if len(self._absent) >= _ABSENT_KEPT:
            self._absent.clear()
        self._absent[kid] = time.monotonic() + _ABSENT_SECONDS

    def _reload(self) -> "_Known":
        with self._reading:
            stored = list(self._read())
            if stored != self._known.stored or self._known.locked:
                self._known = _unwrap_all(self.masters, stored)
                self._absent.clear()
            return self._known


@dataclass(frozen=True, slots=True)
class _Known:
    """The service keys at one moment. Those in `locked` are there but can't be unwrapped."""

    stored: list[ServiceKey]
    private: dict[bytes, X25519PrivateKey]
    signing: dict[bytes, Ed25519PrivateKey]
    macs: dict[bytes, bytes]
    totp: dict[bytes, MasterKey]
    locked: frozenset[bytes]
    contexts: Callable[[bytes, bytes], bytes]


def _unwrap_all(masters: MasterKeys, stored: Sequence[ServiceKey]) -> _Known:
    secrets: dict[bytes, bytes] = {}
    for key in stored:
        try:
            secrets[key.kid] = service_keys.unwrap_service_key(masters, key)
        except KeysUnavailable:
            if key.retired_at is None:
                raise  # without a current key nothing can go on
    kids = {purpose: _kids(stored, purpose) & set(secrets) for purpose in service_keys.PURPOSES}
    private = {kid: X25519PrivateKey.from_private_bytes(secrets[kid]) for kid in kids["sealing"]}
    signing = {
        kid: Ed25519PrivateKey.from_private_bytes(secrets[kid]) for kid in kids["access_token"]
    }
    macs = {kid: secrets[kid] for kid in kids["number_mac"] | kids["edge_mac"]}
    totp = {kid: MasterKey(secrets[kid]) for kid in kids["totp"]}

    @lru_cache(maxsize=_CONTEXTS)
    def contexts(kid: bytes, encapsulated: bytes) -> bytes:
        try:
            return SUITE.decrypt(encapsulated, private[kid], info=CONTEXT_INFO)
        except (InvalidTag, ValueError):
            raise CannotOpen() from None

    locked = frozenset(key.kid for key in stored) - set(secrets)
    return _Known(list(stored), private, signing, macs, totp, locked, contexts)


def _kids(stored: Sequence[ServiceKey], purpose: str) -> set[bytes]:
    return {key.kid for key in stored if key.purpose == purpose}


def open_keyring(engine: Engine, masters: MasterKeys) -> Keyring:
    """Return the keyring of this ledger; make the keys that a new ledger lacks."""
    service_keys.begin(engine, masters)
    return Keyring(masters, lambda: transact(engine, repository.list_service_keys))


def _totp_purpose(user_id: bytes) -> bytes:
    return b"gatepost totp secret of " + user_id


def _number_mac(key: bytes, domain: str, number: str) -> bytes:
    return hmac.digest(key, f"{domain}\0{number}".encode(), sha256)
