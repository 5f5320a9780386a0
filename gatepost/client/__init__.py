"""The client's side of Gatepost as a library: sends messages, follows them, tells who you are.

    from gatepost.client import Client

    with Client.from_config() as gateway:  # or Client(url, ca=…, cert=…, key=…)
        receipt = gateway.send(sender_number, message_body)
        print(gateway.wait(receipt.message_id, timeout=10).status)

`AsyncClient` is the same with `await`. Both run the generators of `flows`, so there is one copy of
the logic. Whatever goes wrong is a `GatepostError`; nothing here ever shows a body or a number.
"""

from gatepost.client.answers import (
    Certificate,
    Formats,
    Identity,
    Limits,
    MessageStatus,
    Receipt,
    Sent,
)
from gatepost.client.asynchronous import AsyncClient
from gatepost.client.blocking import Client
from gatepost.client.errors import (
    CertificateError,
    Forbidden,
    GatepostError,
    NotFound,
    NotSetUp,
    OutcomeUnknown,
    RateLimited,
    Refused,
    StillWaiting,
    Unavailable,
    UnexpectedAnswer,
)
from gatepost.client.messages import Message

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
    "Message",
    "MessageStatus",
    "NotFound",
    "NotSetUp",
    "OutcomeUnknown",
    "RateLimited",
    "Receipt",
    "Refused",
    "Sent",
    "StillWaiting",
    "Unavailable",
    "UnexpectedAnswer",
]
