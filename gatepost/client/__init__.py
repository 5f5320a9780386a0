"""The client's side of Gatepost as a library: send a message, follow it, ask who you are.

    from gatepost.client import Client

    with Client("https://proxy:8001", ca="ca.pem", cert="me.pem", key="me.key") as gateway:
        receipt = gateway.send(sender_number, message_body)
        print(gateway.wait(receipt.message_id, timeout=10).status)

`AsyncClient` is the same with `await`. Both run the generators of `flows`, so there is one copy of
the logic. Whatever goes wrong is a `GatepostError`; nothing here ever shows a body or a number.
"""

from gatepost.client.answers import Certificate, Formats, Identity, Limits, MessageStatus, Receipt
from gatepost.client.asynchronous import AsyncClient
from gatepost.client.blocking import Client
from gatepost.client.errors import (
    CertificateError,
    Forbidden,
    GatepostError,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    Refused,
    StillWaiting,
    Unavailable,
    UnexpectedAnswer,
)

__all__ = [
    "AsyncClient",
    "Certificate",
    "CertificateError",
    "Client",
    "Forbidden",
    "Formats",
    "GatepostError",
    "Identity",
    "Limits",
    "MessageStatus",
    "NotFound",
    "OutcomeUnknown",
    "RateLimited",
    "Receipt",
    "Refused",
    "StillWaiting",
    "Unavailable",
    "UnexpectedAnswer",
]
