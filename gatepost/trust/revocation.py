"""What has been revoked, as it travels: signed CRLs and the number of their state (I8).

Whoever carries it decides nothing: the CRLs are signed by the intermediates, and each reader
verifies them by its own pinned CA file.
"""

from enum import StrEnum

import msgspec

from gatepost.decoding import msgpack_decoder

KEY = "gatepost:revocation"
"""In Redis: a hash of `number`, which is cheap to poll, and `data`, the encoded Revocations."""
CHANNEL = "gatepost:revocation"
"""The wake-up; it carries the number, which decides nothing."""


class Reason(StrEnum):
    """Those of RFC 5280 that we give; its words, as they are written on the wire."""

    UNSPECIFIED = "unspecified"
    KEY_COMPROMISE = "keyCompromise"
    CA_COMPROMISE = "cACompromise"
    AFFILIATION_CHANGED = "affiliationChanged"
    SUPERSEDED = "superseded"
    CESSATION_OF_OPERATION = "cessationOfOperation"
    CERTIFICATE_HOLD = "certificateHold"
    PRIVILEGE_WITHDRAWN = "privilegeWithdrawn"


class Revocations(msgspec.Struct, frozen=True):
    """The number rises with every revocation, hold, release and new CRL; a CRL (DER) an issuer."""

    number: int
    crls: list[bytes]


encode_revocations = msgspec.msgpack.Encoder().encode
decode_revocations = msgpack_decoder(Revocations)
