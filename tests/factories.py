"""Small factories: what tests stand on, each good as it is, each part of it replaceable."""

import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.clock import Clock
from gatepost.ids import MessageIds, id_ms
from gatepost.trust.identity import Certificate, Identity, Role
from gatepost.trust.sealing import Sealer
from gatepost.trust.tls import TlsFiles
from gatepost.wire.bundle import Bundle, KnownClient, KnownDomain
from gatepost.wire.content import Content, encode_content
from gatepost.wire.envelope import Envelope
from gatepost.wire.vitals import Vitals
from main_server.ca.authority import (
    Order,
    Usage,
    load_authority,
    new_key,
    new_serial,
    utc_now,
)
from main_server.ca.founding import init_authority
from main_server.ca.parts import key_to_pem
from main_server.keys.master import MasterKey, MasterKeys
from main_server.keys.service import Keyring
from main_server.keys.service_keys import PURPOSES, new_service_key

DOMAIN, NAME = "example.com", "client_001"
CLIENT_ID = f"{DOMAIN}:{NAME}"
NUMBER, BODY = "+1234567890", "This is the message content"
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
HOSTS = ("localhost", "127.0.0.1")
MAX_LIFETIME_SECONDS = 96 * 3600
LAST_MS = (1 << 48) - 1
"""The last time that an id can say: tests make messages of any day."""

ids = MessageIds(Clock())


def identity(role: Role = Role.CLIENT, domain: str = DOMAIN, name: str = NAME) -> Identity:
    return Identity(domain, role, name)


@dataclass(frozen=True)
class Pair:
    """A certificate with its key, in files."""

    cert: Path
    key: Path
    ca: Path

    @property
    def files(self) -> TlsFiles:
        return TlsFiles(self.cert, self.key, self.ca)

    @cached_property
    def x509(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self.cert.read_bytes())

    @cached_property
    def certificate(self) -> Certificate:
        return Certificate(self.x509.public_bytes(Encoding.DER))


class Pki:
    """A certificate authority in a folder, new or there already; what it issues goes `into` one."""

    def __init__(self, folder: Path, into: Path | None = None) -> None:
        init_authority(folder, utc_now())
        self._folder = folder
        self._into = into or folder
        self._authority = load_authority(folder)

    @property
    def ca(self) -> Path:
        return self._folder / "root.pem"

    def issue(
        self,
        holder: Identity,
        usage: Usage = Usage.CLIENT,
        lifetime: timedelta = timedelta(days=1),
        hosts: tuple[str, ...] = HOSTS,
    ) -> Pair:
        serial, key = new_serial(), new_key()
        order = Order(holder, usage, lifetime, hosts)
        certificate = self._authority.sign(order, key.public_key(), serial, utc_now())
        pair = Pair(self._into / f"{serial:x}.pem", self._into / f"{serial:x}.key", self.ca)
        pair.cert.write_bytes(self._authority.chain(certificate))
        pair.key.write_bytes(key_to_pem(key))
        return pair


def keyring(master: MasterKey | None = None) -> Keyring:
    """One that stands in no ledger: it opens envelopes and hashes numbers."""
    master = master or MasterKey(secrets.token_bytes(32))
    now = datetime.now(UTC).replace(tzinfo=None)
    keys = [new_service_key(master, purpose, now) for purpose in PURPOSES]
    return Keyring(MasterKeys(lambda: [master]), lambda: keys)


def known_client(fingerprint: str = "ab" * 32, **given: Any) -> KnownClient:
    whole: dict[str, Any] = {"domain": DOMAIN, "name": NAME, "rate_per_second": 100, "burst": 1000}
    return KnownClient(fingerprint=fingerprint, **(whole | given))


def bundle(*clients: KnownClient, ring: Keyring | None = None, **given: Any) -> Bundle:
    ring = ring or keyring()
    whole: dict[str, Any] = {
        "sealing_key": ring.sealing_key(),
        "mac_key": ring.edge_mac_key(),
        "domains": [KnownDomain(name, None, 1_000_000) for name in (DOMAIN, "gatepost")],
        "clients": list(clients),
        "max_lifetime_seconds": MAX_LIFETIME_SECONDS,
    }
    return Bundle(**(whole | given))


def envelope(
    ring: Keyring,
    content: bytes | None = None,
    *,
    number: str = NUMBER,
    body: str = BODY,
    **given: Any,
) -> Envelope:
    """Sealed to that keyring; whatever is given as a field stands as it is."""
    message_id: UUID = given.get("message_id") or ids.new()
    queued_at = id_ms(message_id)
    whole: dict[str, Any] = {
        "message_id": message_id,
        "client_id": CLIENT_ID,
        "domain": DOMAIN,
        "queue": "message_queue",
        "cert_fingerprint": "ab" * 32,
        "queued_at": queued_at,
        "expires_at": queued_at + MAX_LIFETIME_SECONDS * 1000,
        "request_id": "request-1",
        "traceparent": TRACEPARENT,
    } | given
    if "sealed" not in whole:
        whole["sealed"] = Sealer().seal(
            replace(ring.sealing_key(), use_until=LAST_MS),
            message_id,
            whole["client_id"],
            whole["domain"],
            encode_content(Content(number, body)) if content is None else content,
        )
    return Envelope(**whole)


def changed(struct: Any, **given: Any) -> Any:
    """The same, but for some fields."""
    return msgspec.structs.replace(struct, **given)


def vitals_of(number: int = 1, **given: Any) -> Vitals:
    """Of some process."""
    whole: dict[str, Any] = {
        "process": f"{number:016x}",
        "service": "proxy",
        "machine": "edge-1",
        "pid": number,
        "version": "1.0",
        "up_ms": 1_000,
    }
    return Vitals(**(whole | given))
