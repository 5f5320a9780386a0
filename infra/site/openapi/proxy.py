"""The calls of partners. The posts are no routes of FastAPI's, so all of theirs is told here."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from gatepost.trust.identity import Role
from infra.site.openapi.calls import ALWAYS, ANYWHERE, READ, Call, Interface
from proxy.commit import Durability

_ID = "01a1ee53-ca31-7116-bf56-e42fba72bdee"
_AT = "2026-11-18T11:03:51.089Z"
_LATER = "2026-11-18T11:03:51.102Z"
_SENT = {"sender_number": "+1234567890", "message_body": "This is the message content"}
_TAKEN = {"queued_at": _AT, "durability": "full"}

_KEY_FORM = "^[!-~]{1,255}$"
_MOMENT, _UUID = {"format": "date-time"}, {"format": "uuid"}
Time = Annotated[
    str, Meta(description="ISO 8601, UTC, with milliseconds.", extra_json_schema=_MOMENT)
]
MessageId = Annotated[str, Meta(description="A UUIDv7, in lower case.", extra_json_schema=_UUID)]


class Metadata(msgspec.Struct, forbid_unknown_fields=True):
    """What the sender may say of itself; the certificate decides."""

    client_id: Annotated[str, Meta(description="Must be the certificate's client.")] | UnsetType = (
        UNSET
    )
    timestamp: (
        Annotated[
            str,
            Meta(
                description="ISO 8601 with a zone; kept, and decides nothing.",
                extra_json_schema=_MOMENT,
            ),
        ]
        | UnsetType
    ) = UNSET


class Submission(msgspec.Struct, forbid_unknown_fields=True):
    """A message. Unknown fields are refused."""

    sender_number: Annotated[str, Meta(pattern=r"^\+[1-9][0-9]{1,14}$", description="E.164.")]
    message_body: Annotated[
        str,
        Meta(min_length=1, max_length=1000, description="Code points; not blank, without NUL."),
    ]
    metadata: Metadata | UnsetType = UNSET
    priority: (
        Annotated[
            int, Meta(ge=1, le=10, description="10 is the most urgent; 5 if nothing is said.")
        ]
        | UnsetType
    ) = UNSET
    ttl: (
        Annotated[
            int,
            Meta(
                ge=1, le=345_600, description="How many seconds it may be delivered, at most 96 h."
            ),
        ]
        | UnsetType
    ) = UNSET
    expires_at: (
        Annotated[
            str,
            Meta(
                description="Until when, ISO 8601 with a zone, within 96 h. This or `ttl`.",
                extra_json_schema=_MOMENT,
            ),
        ]
        | UnsetType
    ) = UNSET
    due_at: (
        Annotated[
            str,
            Meta(
                description="Not delivered before, ISO 8601 with a zone; before it expires. What is"
                " past is due at once.",
                extra_json_schema=_MOMENT,
            ),
        ]
        | UnsetType
    ) = UNSET
    ordering_key: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=128,
                description="Delivered after those of yours with the same key that were accepted"
                " before. Kept as a MAC only.",
            ),
        ]
        | UnsetType
    ) = UNSET


class BatchItem(Submission, forbid_unknown_fields=True):
    """A message of a batch."""

    idempotency_key: (
        Annotated[str, Meta(pattern=_KEY_FORM, description="As the header, for this item.")]
        | UnsetType
    ) = UNSET


class Mistake(msgspec.Struct):
    """Where something is wrong (a JSON pointer into what was sent), and what."""

    pointer: str
    detail: str


class Problem(msgspec.Struct):
    """What isn't done is answered so (RFC 9457): docs/problems/. An item of a batch has no
    `request_id` of its own, and `retry_after` is there where it is worth trying again."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str | UnsetType = UNSET
    retry_after: int | UnsetType = UNSET
    errors: list[Mistake] | UnsetType = UNSET


class Accepted(msgspec.Struct):
    """What a sender is told of an accepted message, and which stores had it by then."""

    message_id: MessageId
    status: Literal["queued"]
    queued_at: Time
    durability: Durability


class Answered(msgspec.Struct):
    """What became of one item: as a single post of it would have been answered."""

    index: int
    status: Annotated[int, Meta(description="202, or that of `problem`.")]
    message_id: MessageId | UnsetType = UNSET
    queued_at: Time | UnsetType = UNSET
    durability: Durability | UnsetType = UNSET
    problem: Problem | UnsetType = UNSET


class BatchAnswer(msgspec.Struct):
    """In the order of the items."""

    items: list[Answered]


Status = Literal["queued", "delivered", "failed", "erased", "duplicate", "unknown"]
Source = Literal["queue"]
Reason = Literal["attempts_used", "refused", "expired", "unreadable", "discarded", "key_conflict"]


class MessageStatus(msgspec.Struct):
    """Where a message is. It shows neither number nor body."""

    message_id: MessageId
    status: Annotated[
        Status,
        Meta(description="`unknown`: only the queue could be asked, and it has the message."),
    ]
    created_at: Time
    queued_at: Time
    delivered_at: Time | None
    attempt_count: Annotated[int, Meta(description="Where `status` is unknown, at least so many.")]
    reason: Annotated[Reason, Meta(description="Why it failed; there if it has.")] | UnsetType = (
        UNSET
    )
    source: (
        Annotated[Source, Meta(description="There if `status` is unknown: who says all of this.")]
        | UnsetType
    ) = UNSET


class SeenCertificate(msgspec.Struct):
    """The certificate that was shown."""

    fingerprint: Annotated[str, Meta(description="SHA-256, hex.")]
    serial: str
    not_before: Time
    not_after: Time


class Limits(msgspec.Struct):
    """What this client is granted."""

    rate_per_second: int
    burst: int


class Formats(msgspec.Struct):
    """What a message may be here."""

    max_body_characters: int


class Whoami(msgspec.Struct):
    """Who the certificate is."""

    client_id: str
    domain: str
    role: Role
    name: str
    certificate: SeenCertificate
    limits: Limits
    formats: Formats


class Renewal(msgspec.Struct, forbid_unknown_fields=True):
    """In base64. `gatepost cert renew` and the library make it."""

    csr: Annotated[str, Meta(description="A request (PKCS#10, DER) for a new key.")]
    signature: Annotated[str, Meta(description="Of the request, by the old key.")]


class Renewed(msgspec.Struct):
    """PEM: the new certificate with its intermediate, and what to trust from now on."""

    cert: str
    ca: str


_RATE = {
    "RateLimit": "What is left, and in how many seconds there is more.",
    "RateLimit-Policy": "What this client is granted: q at once, w seconds to fill it.",
}
_ASKING = "What you ask is counted apart from what you send, by the same rate."
_KEY = "1 to 255 visible ASCII characters. Sent again with the same key, it is one message."
_HERE = (*ALWAYS, *ANYWHERE, "identity-mismatch")
_TO_SEND = (
    *READ,
    "unsupported-media-type",
    "backlogged",
    "intake-paused",
    "draining",
    *_HERE,
)

INTERFACE = Interface(
    name="proxy",
    title="The gateway, for partners",
    words="TLS 1.3 with a client's certificate. Its role is `client`.",
    server="https://gateway.example.com:8001",
    anywhere=_RATE,
    calls=(
        Call(
            "POST",
            "/api/v1/messages",
            "Send a message",
            words="The body may have 16 KiB. 202 means: it is on disk, sealed, and won't be lost.",
            request=Submission,
            request_example=_SENT,
            answer=Accepted,
            answer_example={"message_id": _ID, "status": "queued", **_TAKEN},
            status=202,
            headers={"Idempotency-Key": _KEY},
            answered={
                "Location": "Where its state can be asked for.",
                "Idempotency-Replayed": "`true` if this key was answered before.",
                **_RATE,
            },
            problems=(*_TO_SEND, "idempotency-key-reused", "still-under-way", "outcome-unknown"),
        ),
        Call(
            "POST",
            "/api/v1/messages/batch",
            "Send many messages",
            words="Up to 1,000, and 16 MiB: a JSON array, or one on each line (NDJSON). The answer"
            " is 200 whatever becomes of the items; each of them says it for itself. Your rate"
            " counts items, and each 16 KiB of the body as one at least, before it is read.",
            request=list[BatchItem],
            request_example=[_SENT | {"idempotency_key": "order-1"}],
            line=BatchItem,
            answer=BatchAnswer,
            answer_example={"items": [{"index": 0, "status": 202, "message_id": _ID, **_TAKEN}]},
            answered=_RATE,
            problems=_TO_SEND,
        ),
        Call(
            "GET",
            "/api/v1/messages/{message_id}",
            "Ask where a message is",
            words="Another client's message is answered as one that doesn't exist. " + _ASKING,
            answer=MessageStatus,
            answer_example={
                "message_id": _ID,
                "status": "delivered",
                "created_at": _AT,
                "queued_at": _AT,
                "delivered_at": _LATER,
                "attempt_count": 1,
            },
            problems=("not-found", "rate-limited", *_HERE),
        ),
        Call(
            "GET",
            "/api/v1/whoami",
            "Ask who you are",
            words=_ASKING,
            answer=Whoami,
            answer_example={
                "client_id": "example.com:client_001",
                "domain": "example.com",
                "role": "client",
                "name": "client_001",
                "certificate": {
                    "fingerprint": "5f1e…",
                    "serial": "3a0c…",
                    "not_before": _AT,
                    "not_after": "2027-02-16T11:03:51.000Z",
                },
                "limits": {"rate_per_second": 100, "burst": 1000},
                "formats": {"max_body_characters": 1000},
            },
            problems=("rate-limited", *_HERE),
        ),
        Call(
            "POST",
            "/api/v1/certificates/renew",
            "Renew your certificate",
            words="From two thirds of its life on. `gatepost cert renew` does it.",
            request=Renewal,
            request_example={"csr": "MIH…", "signature": "MEU…"},
            answer=Renewed,
            answer_example={"cert": "-----BEGIN CERTIFICATE-----\n…", "ca": "…"},
            status=201,
            answered=_RATE,
            problems=(
                *("malformed", "too-large", "bad-signing-request", "bad-order", "key-used-before"),
                *("not-yet", "not-found", "rate-limited", *_HERE),
            ),
        ),
    ),
)
