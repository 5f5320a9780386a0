"""Errors at the boundary: application/problem+json (RFC 9457), from one table, by one writer.

A problem never repeats what was sent and never shows a stack trace; its `type` is stable.
"""

import json
from dataclasses import dataclass
from typing import Any

from gatepost import errors

TYPE_BASE = "urn:gatepost:problem:"
MEDIA_TYPE = b"application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """One type of problem: its stable slug, its status and its title."""

    slug: str
    status: int
    title: str


KINDS: dict[type[errors.GatepostError], Kind] = {
    errors.Malformed: Kind("malformed", 400, "The body can't be read"),
    errors.BadIdentity: Kind("bad-identity", 403, "The certificate has no usable identity"),
    errors.UnknownCertificate: Kind("unknown-certificate", 403, "Unknown certificate"),
    errors.RevokedCertificate: Kind("revoked-certificate", 403, "Revoked certificate"),
    errors.WrongRole: Kind("wrong-role", 403, "Not allowed for this role"),
    errors.IdentityMismatch: Kind("identity-mismatch", 403, "The identities disagree"),
    errors.NotSignedIn: Kind("not-signed-in", 401, "Not signed in"),
    errors.WrongCredentials: Kind("wrong-credentials", 401, "Wrong name or password"),
    errors.WrongCode: Kind("wrong-code", 422, "Wrong code"),
    errors.SecondStepWanted: Kind("second-step-wanted", 403, "A code is wanted"),
    errors.SecondStepMissing: Kind("second-step-missing", 403, "An authenticator is wanted"),
    errors.PasswordWanted: Kind("password-wanted", 403, "Is it you?"),
    errors.CodeWanted: Kind("code-wanted", 403, "Is it you?"),
    errors.FormRefused: Kind("form-refused", 403, "The form was not taken"),
    errors.NotFound: Kind("not-found", 404, "Not found"),
    errors.MethodNotAllowed: Kind("method-not-allowed", 405, "Method not allowed"),
    errors.TooLarge: Kind("too-large", 413, "Too large"),
    errors.UnsupportedMediaType: Kind("unsupported-media-type", 415, "Unsupported media type"),
    errors.Invalid: Kind("invalid", 422, "A value is not allowed"),
    errors.BadOrder: Kind("bad-order", 422, "No such certificate is given"),
    errors.BadSigningRequest: Kind("bad-signing-request", 422, "The request can't be granted"),
    errors.KeyUsedBefore: Kind("key-used-before", 422, "The key was used before"),
    errors.TokenRefused: Kind("token-refused", 403, "The token can't be used"),
    errors.AnotherNeeded: Kind("another-needed", 403, "Another administrator is needed"),
    errors.NotYet: Kind("not-yet", 409, "Too early"),
    errors.NameTaken: Kind("name-taken", 409, "The name is taken"),
    errors.KeyReused: Kind("idempotency-key-reused", 422, "The Idempotency-Key was used before"),
    errors.StillUnderWay: Kind("still-under-way", 409, "The same post is still under way"),
    errors.TooManyTries: Kind("too-many-tries", 429, "Too many tries"),
    errors.Backlogged: Kind("backlogged", 503, "Too much is waiting"),
    errors.IntakePaused: Kind("intake-paused", 503, "Intake is paused"),
    errors.Draining: Kind("draining", 503, "This proxy is being stopped"),
    errors.TooMuchAtOnce: Kind("too-much-at-once", 429, "Too much at once"),
    errors.RateLimited: Kind("rate-limited", 429, "Too many requests"),
    errors.Unavailable: Kind("unavailable", 503, "Not available"),
    errors.KeysUnavailable: Kind("keys-unavailable", 503, "A key is not available"),
    errors.LedgerUnavailable: Kind("ledger-unavailable", 503, "The ledger does not answer"),
    errors.OutcomeUnknown: Kind("outcome-unknown", 503, "The outcome is unknown"),
}
INTERNAL = Kind("internal", 500, "Something went wrong here")
_INTERNAL_DETAIL = "The request could not be handled. Its request_id finds the reason in our logs."


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal, ready to be written."""

    status: int
    document: dict[str, Any]
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def body(self) -> bytes:
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()


def describe(error: Exception, request_id: str | None = None) -> Problem:
    """Return the problem that an exception becomes; one that isn't ours says nothing of itself."""
    kind = next((KINDS[cls] for cls in type(error).__mro__ if cls in KINDS), INTERNAL)
    detail = getattr(error, "detail", "") if kind is not INTERNAL else _INTERNAL_DETAIL
    document: dict[str, Any] = {
        "type": TYPE_BASE + kind.slug,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
    }
    if request_id:
        document["request_id"] = request_id
    if isinstance(error, errors.RetryableError):  # an item of a batch has no headers
        document["retry_after"] = error.retry_after
    if isinstance(error, errors.GatepostError) and error.errors:
        document["errors"] = [{"pointer": e.pointer, "detail": e.detail} for e in error.errors]
    return Problem(kind.status, document, _headers(error))


def _headers(error: Exception) -> tuple[tuple[bytes, bytes], ...]:
    if isinstance(error, errors.RetryableError):
        return ((b"retry-after", str(error.retry_after).encode()),)
    if isinstance(error, errors.MethodNotAllowed):
        return ((b"allow", error.allow.encode()),)
    if isinstance(error, errors.NotSignedIn | errors.WrongCredentials):
        return ((b"www-authenticate", b"Bearer"),)
    return ()
