"""The bundle: all that the edge must know to accept messages, made by the main server.

It names no one who may not send, and holds nothing that opens a message (I7).
"""

from functools import cached_property

import msgspec
from cryptography import x509

from gatepost.decoding import json_decoder
from gatepost.trust.certificates import read_certificate
from gatepost.trust.identity import Identity, Role
from gatepost.trust.sealing import SealingKey

TIME_HEADER = "x-gatepost-time"
"""The header with the main server's time in milliseconds, on each answer about the bundle."""


class KnownClient(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A certificate that may send, and whose it is."""

    fingerprint: str
    domain: str
    name: str
    rate_per_second: int
    burst: int
    anchor: str | None = None
    """The key of its CA, if that isn't ours."""

    @cached_property
    def identity(self) -> Identity:
        return Identity(self.domain, Role.CLIENT, self.name)


class KnownDomain(msgspec.Struct, frozen=True):
    """A domain, the queue in which its messages wait (None: the default one), and how many may
    wait. While its intake is paused, none of its messages are taken."""

    name: str
    queue: str | None
    max_undelivered: int
    intake_paused: bool = False


class KnownAnchor(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A CA that isn't ours (DER): its certificates can be those of one domain's clients."""

    key: str
    domain: str
    certificate: bytes

    @cached_property
    def x509(self) -> x509.Certificate:
        return read_certificate(self.certificate)


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    sealing_key: SealingKey
    mac_key: bytes
    """The key that names Idempotency-Keys and payloads without showing them. It opens nothing."""
    domains: list[KnownDomain]
    clients: list[KnownClient]
    anchors: list[KnownAnchor] = []
    max_lifetime_seconds: int


decode_bundle = json_decoder(Bundle)
