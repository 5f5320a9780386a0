"""I7: whoever has all that is kept outside the main server opens no message with it.

A message is sent, and its sealed forms are taken from where they lie: from Redis's files the
envelope, from the ledger the row. Then everything that proxy, worker and Redis keep is taken for
keys, at every place and in every form in which a key may be written.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gatepost.errors import CannotOpen
from gatepost.trust.sealing import CONTEXT_INFO, SUITE, additional_data, message_key, parse
from gatepost.wire.envelope import Envelope, decode
from infra.dev.stack import Stack
from main_server.keys import repository
from main_server.keys.data_keys import unwrap
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.keys.rows.form import open_row
from main_server.keys.service_keys import unwrap_service_key
from main_server.store.database import transact
from tests.acceptance.site import MESSAGES, Site, eventually
from tests.factories import BODY, NUMBER

WORDS = re.compile(rb"[A-Za-z0-9+/_=-]{43,}|[0-9a-fA-F]{64,}")
PEM = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.S)
ENVELOPE = re.compile(rb'\{"message_id":"[^}]*"sealed":"[^}]*\}')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One of its own, in which little has happened: everything of it is tried."""
    with Stack(tmp_path_factory.mktemp("edge") / "var") as stack:
        yield Site(stack)


@pytest.fixture(scope="module")
def message_id(site: Site) -> UUID:
    with site.calling() as client:
        document = {"sender_number": NUMBER, "message_body": BODY}
        answer = client.post(MESSAGES, json=document, headers={"idempotency-key": "a-key-of-mine"})
    assert answer.status_code == 202
    found = answer.json()["message_id"]
    eventually(lambda: (site.row(found) or {}).get("status") == "delivered", "delivered")
    return UUID(found)


def kept_by_the_edge(site: Site) -> dict[str, bytes]:
    """Of proxy, worker and Redis: configuration, certificates, caches, data, logs, processes."""
    place = site.stack.place
    files = [place.config / "proxy.yaml", place.config / "worker.yaml"]
    files += [place.log(name) for name in ("proxy", "worker", "redis")]
    files += [one for name in ("proxy*", "worker*", "ca.pem") for one in place.pki.glob(name)]
    for folder in (place.folder / "proxy", place.folder / "redis"):
        files += [file for file in folder.rglob("*") if file.is_file()]
    for service in ("proxy", "worker", "redis"):
        for pid in site.pids(service):
            files += [Path(f"/proc/{pid}/{name}") for name in ("environ", "cmdline")]
    return {str(file): file.read_bytes() for file in files}


def keys_in(kept: Iterable[bytes]) -> set[bytes]:
    """All 32 bytes that stand anywhere, as they are, or in base64, hex or a PEM file."""
    found: set[bytes] = set()
    for data in kept:
        pieces = [data] if b"\x00" in data or len(data) % 32 == 0 else []
        for word in WORDS.findall(data):
            pieces += decoded(word)
        for pem in PEM.findall(data):
            key = serialization.load_pem_private_key(pem, None)
            assert isinstance(key, EllipticCurvePrivateKey)
            pieces.append(key.private_numbers().private_value.to_bytes(32, "big"))
        for piece in pieces:
            found |= {piece[at : at + 32] for at in range(len(piece) - 31)}
    return found


def decoded(word: bytes) -> Iterator[bytes]:
    padded = word.rstrip(b"=") + b"=" * (-len(word.rstrip(b"=")) % 4)
    for decode_word in (base64.b64decode, base64.urlsafe_b64decode, binascii.unhexlify):
        try:
            yield decode_word(padded if decode_word is not binascii.unhexlify else word)
        except (binascii.Error, ValueError):
            continue


def opens(key: bytes, envelope: Envelope, row: dict[str, object] | None) -> bool:
    """Whether these 32 bytes open it: as the sealing key, as a context's secret, as a data key."""
    return _opens_envelope(key, envelope) or (row is not None and _opens_row(key, row))


def _opens_envelope(key: bytes, envelope: Envelope) -> bool:
    sealed = parse(envelope.sealed)
    secrets = [key]
    try:
        private = X25519PrivateKey.from_private_bytes(key)
        secrets.append(SUITE.decrypt(sealed.encapsulated, private, info=CONTEXT_INFO))
    except (InvalidTag, ValueError):
        pass
    bound = additional_data(envelope.message_id, envelope.client_id, envelope.domain)
    for secret in secrets:
        for one in (secret, message_key(secret, envelope.message_id)):
            try:
                AESGCM(one).decrypt(sealed.nonce, sealed.ciphertext, bound)
            except InvalidTag:
                continue
            return True
    return False


def _opens_row(key: bytes, row: dict[str, object]) -> bool:
    message_id, key_id, body = row["message_id"], row["key_id"], row["encrypted_body"]
    assert isinstance(message_id, bytes)
    assert isinstance(key_id, int)
    assert isinstance(body, bytes)
    named = UUID(bytes=message_id), str(row["client_id"]), str(row["domain"])
    try:
        open_row(key, key_id, *named, body)
    except CannotOpen:
        return False
    return True


def envelope_of(kept: dict[str, bytes], message_id: UUID) -> Envelope:
    """As Redis keeps it, long after it was delivered."""
    for data in kept.values():
        for found in ENVELOPE.findall(data):
            if json.loads(found)["message_id"] == str(message_id):
                return decode(found)
    raise AssertionError("Redis's files do not have it")


def test_nothing_that_the_edge_keeps_opens_a_message(site: Site, message_id: UUID) -> None:
    kept = kept_by_the_edge(site)
    bundle = json.loads(kept[str(site.stack.place.folder / "proxy" / "bundle.json")])
    envelope, row = envelope_of(kept, message_id), site.row(str(message_id))
    assert row is not None

    keys = keys_in(kept.values())

    for name in ("public", "kid"):
        assert name in bundle["sealing_key"]
    assert base64.b64decode(bundle["mac_key"]) in keys, "or none would have been found"
    assert len(keys) > 5_000
    assert [key for key in keys if opens(key, envelope, row)] == []


def test_the_main_servers_keys_would_open_it_wherever_they_lay(
    site: Site, message_id: UUID
) -> None:
    """So that the test above can fail: each key, in each form, in a file of the proxy."""
    kept = kept_by_the_edge(site)
    envelope, row = envelope_of(kept, message_id), site.row(str(message_id))
    assert row is not None
    file = site.stack.place.secrets / "master.key"
    masters = MasterKeys(partial(read_master_keys, file))
    service_keys = transact(site.engine, repository.list_service_keys)
    sealing = unwrap_service_key(masters, next(k for k in service_keys if k.purpose == "sealing"))
    data_key = unwrap(masters, next(iter(transact(site.engine, repository.list_data_keys))))

    for key in (sealing, data_key):
        for written in (b"\x00" + key, key.hex().encode(), base64.b64encode(key)):
            planted = b'{"x": "%b"}' % written
            assert [one for one in keys_in([planted]) if opens(one, envelope, row)] == [key]


def test_the_edge_keeps_nothing_of_a_message_readable(site: Site, message_id: UUID) -> None:
    """Nor the key under which it was posted (I6)."""
    for name, data in kept_by_the_edge(site).items():
        for secret in (NUMBER.encode(), BODY.encode(), b"a-key-of-mine"):
            forms = [secret, base64.b64encode(secret).rstrip(b"="), secret.hex().encode()]
            assert not any(form in data for form in forms), name
