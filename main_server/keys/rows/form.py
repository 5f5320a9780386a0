"""The sealed form of a row: AES-256-GCM under a key of its own.

That key is derived from the data key and the message's id; what it seals is bound to the id, the
client, the domain and the data key's id, so that no row opens in another's place (I6).

    body = version (1) | nonce (12) | ciphertext
"""

import secrets
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gatepost.errors import CannotOpen
from gatepost.trust.derive import expand, extract
from gatepost.trust.sealing import additional_data

_VERSION = b"\x01"
_NONCE = 12
_HEADER = 1 + _NONCE


def seal_row(
    data_key: bytes, key_id: int, message_id: UUID, client_id: str, domain: str, content: bytes
) -> bytes:
    nonce = secrets.token_bytes(_NONCE)
    bound = _bound(message_id, client_id, domain, key_id)
    return _VERSION + nonce + _cipher(data_key, message_id).encrypt(nonce, content, bound)


def open_row(
    data_key: bytes, key_id: int, message_id: UUID, client_id: str, domain: str, body: bytes
) -> bytes:
    """Open a row; raise CannotOpen if the row, or anything that it is bound to, was altered."""
    if len(body) <= _HEADER or body[:1] != _VERSION:
        raise CannotOpen("The row has an unknown form.")
    bound = _bound(message_id, client_id, domain, key_id)
    try:
        cipher = _cipher(data_key, message_id)
        return cipher.decrypt(body[1:_HEADER], body[_HEADER:], bound)
    except InvalidTag:
        raise CannotOpen() from None


def _cipher(data_key: bytes, message_id: UUID) -> AESGCM:
    info = b"gatepost row key v1" + message_id.bytes
    return AESGCM(expand(extract(data_key), info))


def _bound(message_id: UUID, client_id: str, domain: str, key_id: int) -> bytes:
    return additional_data(message_id, client_id, domain) + b"\0" + str(key_id).encode()
