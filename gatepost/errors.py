"""The errors of the domain, in its words. Nothing here knows HTTP: gatepost.problem maps it.

A class's docstring is the message that its reader gets unless a better one is given. None of these
ever carries what was sent: no value of a field, no body, no number.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldError:
    """A fault at one place of a document: a JSON pointer (RFC 6901) and words."""

    pointer: str
    detail: str


class GatepostError(Exception):
    """Something went wrong."""

    def __init__(self, detail: str | None = None, *, errors: Sequence[FieldError] = ()) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        self.errors = tuple(errors)
        super().__init__(self.detail)


class Malformed(GatepostError):
    """The body is not a JSON document that can be read."""


class Invalid(GatepostError):
    """The document is well-formed, but a value in it is not allowed."""


class KeyReused(GatepostError):
    """This Idempotency-Key was used before, for another message. Use a new one for this."""


class BadIdentity(GatepostError):
    """The certificate does not carry a Gatepost identity."""


class UnknownCertificate(GatepostError):
    """This certificate is not known here: it was not issued by us, or it was withdrawn."""


class RevokedCertificate(GatepostError):
    """This certificate was revoked, or is on hold."""


class WrongRole(GatepostError):
    """The role of this certificate may not do this."""


class IdentityMismatch(GatepostError):
    """What the request says of its sender disagrees with its certificate."""


class BadOrder(GatepostError):
    """A certificate like this is not given to anybody."""


class BadSigningRequest(GatepostError):
    """The certificate signing request can't be granted."""


class KeyUsedBefore(GatepostError):
    """This key is in another certificate already. Make a new key for this one."""


class TokenRefused(GatepostError):
    """This token can't be used: it is unknown, was used, was withdrawn or is over. Ask for one."""


class NotSignedIn(GatepostError):
    """Sign in to see this."""


class WrongCredentials(GatepostError):
    """The name or the password is wrong."""


class WrongCode(GatepostError):
    """This code is not right. An authenticator's is good once, and for a minute or so."""


class SecondStepWanted(GatepostError):
    """Give a code of your authenticator first."""


class SecondStepMissing(GatepostError):
    """Set up an authenticator first: who administers can't do without."""


class PasswordWanted(GatepostError):
    """Give your password again first: this can't be taken back, or lets somebody in."""


class CodeWanted(GatepostError):
    """Give a code of your authenticator first: this can't be taken back, or lets somebody in."""


class FormRefused(GatepostError):
    """This form was open for too long, or isn't of this portal. Load its page again."""


class AnotherNeeded(GatepostError):
    """Another administrator has to do this."""


class NotYet(GatepostError):
    """It is too early for this."""


class NameTaken(GatepostError):
    """This name is somebody's already. Names are never used again by another."""


class NotFound(GatepostError):
    """There is nothing here."""


class MethodNotAllowed(GatepostError):
    """This method is not offered here."""

    def __init__(self, allow: str) -> None:
        super().__init__()
        self.allow = allow


class TooLarge(GatepostError):
    """The body is larger than is allowed."""


class UnsupportedMediaType(GatepostError):
    """Send the body as application/json, in UTF-8, without a content encoding."""


class RetryableError(GatepostError):
    """Refused for now: the same request may succeed later."""

    def __init__(self, detail: str | None = None, *, retry_after: int = 1) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class StillUnderWay(RetryableError):
    """Another post with this Idempotency-Key is under way: repeat this one in a moment."""


class RateLimited(RetryableError):
    """Too many requests for this client: wait as Retry-After says."""


class TooMuchAtOnce(RetryableError):
    """Too many connections, or requests on one of them, are open at once. Let some end first."""


class TooManyTries(RetryableError):
    """Too many tries in a row. Wait a moment before the next one."""


class Backlogged(RetryableError):
    """Too many messages of this domain wait to be delivered. Send again as Retry-After says."""


class IntakePaused(RetryableError):
    """Nothing is taken in of this domain just now; nothing was kept. Send as Retry-After says."""


class Draining(RetryableError):
    """This proxy is about to be stopped, and kept nothing. Send it again: another one takes it."""


class Unavailable(RetryableError):
    """The message could not be accepted just now; nothing of it was kept. Send it again."""


class KeysUnavailable(Unavailable):
    """A key that is needed can't be had just now. Nothing is lost by it; try again."""


class LedgerUnavailable(Unavailable):
    """The ledger does not answer just now. What was asked may be done all the same: try again."""


class OutcomeUnknown(RetryableError):
    """Whether the message was accepted can't be known. Repeat it with the same Idempotency-Key."""


class CannotOpen(GatepostError):
    """The sealed content can't be opened: it was altered, or its key is not there."""


class ConfigurationError(GatepostError):
    """The configuration can't be used."""
