"""The errors that a caller can meet: one class for each thing that a caller would do about it.

The words say what to do. None of these ever carries a body or a number: a problem names the fields
that are wrong, never their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from gatepost.client.answers import MessageStatus
    from gatepost.errors import FieldError


@dataclass(frozen=True, slots=True)
class Problem:
    """The problem that the gateway has told (RFC 9457). `type` is stable; the words may change."""

    type: str
    title: str
    status: int
    detail: str
    errors: tuple[FieldError, ...] = ()
    request_id: str | None = None


class GatepostError(Exception):
    """The base of all errors of the client. `problem` is the gateway's answer, if there was one.

    `idempotency_key` is that of the send that failed, so that it can be repeated under the same
    key.
    """

    kind: ClassVar[str] = "error"
    idempotency_key: str | None = None

    def __init__(
        self, message: str, *, problem: Problem | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.problem = problem
        self.request_id = request_id or (problem.request_id if problem else None)

    @property
    def type(self) -> str | None:
        return self.problem.type if self.problem else None

    @property
    def title(self) -> str | None:
        return self.problem.title if self.problem else None

    @property
    def detail(self) -> str:
        return self.problem.detail if self.problem else str(self)

    @property
    def errors(self) -> tuple[FieldError, ...]:
        return self.problem.errors if self.problem else ()


class Refused(GatepostError):
    """The gateway will not take this as it is: change it, as repeating it changes nothing."""

    kind = "refused"


class Forbidden(GatepostError):
    """This certificate may not do that: revoked, unknown, or of another role or client."""

    kind = "forbidden"


class NotFound(GatepostError):
    """No such message of yours exists."""

    kind = "not-found"


class RetryableError(GatepostError):
    """The same call may succeed after `retry_after` seconds."""

    def __init__(
        self,
        message: str,
        *,
        problem: Problem | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, problem=problem, request_id=request_id)
        self.retry_after = retry_after


class RateLimited(RetryableError):
    """This client has made too many requests; nothing was accepted.

    `interval` is how many seconds a message takes at the rate that the client is granted.
    """

    kind = "rate-limited"
    interval: float | None = None


class Unavailable(RetryableError):
    """The gateway can't be reached or can't work just now; nothing was accepted."""

    kind = "unavailable"


class OutcomeUnknown(RetryableError):
    """It can't be known whether the message was accepted: repeat it under its `idempotency_key`.

    The gateway answers a repeat with the receipt of the first, so that it makes no second message.
    """

    kind = "outcome-unknown"
    advice: ClassVar[str] = (
        "Whether the message was accepted is not known: repeat it with the same idempotency key."
    )


class CertificateError(GatepostError):
    """No trusted connection can be made: a certificate, a key, a CA or the TLS version is wrong."""

    kind = "certificate"


class NotSetUp(GatepostError):
    """No usable configuration file was found: `gatepost enrol` writes one."""

    kind = "usage"


class UnexpectedAnswer(GatepostError):
    """Whatever answered doesn't speak as Gatepost does."""

    kind = "unexpected-answer"


class StillWaiting(GatepostError, TimeoutError):
    """The message has not come to its end yet. `latest` is what was last heard of it."""

    kind = "still-waiting"

    def __init__(self, message: str, latest: MessageStatus) -> None:
        super().__init__(message)
        self.latest = latest
