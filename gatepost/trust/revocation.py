"""The form in which revocations travel: signed CRLs and the number of their state (I8).

Whoever carries them decides nothing: the CRLs are signed by the intermediates, and each reader
verifies them by its own pinned CA file.
"""

from enum import StrEnum

import msgspec

from gatepost.decoding import msgpack_decoder

KEY = "gatepost:revocation"
"""The key in Redis of a hash: `number`, which is cheap to poll, and `data`, the encoded
Revocations."""
CHANNEL = "gatepost:revocation"
"""The channel of the wake-up, which carries the number; that decides nothing."""


class Reason(StrEnum):
    """The reasons of RFC 5280 that we give, in its words, as they are written on the wire."""

    UNSPECIFIED = "unspecified"
    KEY_COMPROMISE = "keyCompromise"
    CA_COMPROMISE = "cACompromise"
    AFFILIATION_CHANGED = "affiliationChanged"
    SUPERSEDED = "superseded"
    CESSATION_OF_OPERATION = "cessationOfOperation"
    CERTIFICATE_HOLD = "certificateHold"
    PRIVILEGE_WITHDRAWN = "privilegeWithdrawn"


class Revocations(msgspec.Struct, frozen=True):
    """The state of what is revoked: a number, which rises with every revocation, hold, release and
    new CRL, and one CRL (DER) for each issuer."""

    number: int
    crls: list[bytes]


encode_revocations = msgspec.msgpack.Encoder().encode
decode_revocations = msgpack_decoder(Revocations)
