"""Turns a failed connection into an error that says what to do. Pure: it only reads exceptions.

With TLS 1.3 a client may send before the server has judged its certificate, so that a refused one
shows only when the answer is read: as an alert or, if that is overtaken, as a lost connection.
"""

import ssl
from collections.abc import Iterator

import httpx

from gatepost.client.calls import Call
from gatepost.client.errors import CertificateError, GatepostError, OutcomeUnknown, Unavailable

TransportFailure = (httpx.RequestError, ssl.SSLError)

# OpenSSL's names for what a server says when it turns us away, and what to do about it.
_ALERTS = {
    "CERTIFICATE_REQUIRED": "The gateway wants a client certificate and got none.",
    "CERTIFICATE_EXPIRED": "Your client certificate has expired: ask for a new one.",
    "CERTIFICATE_REVOKED": "Your client certificate was revoked: ask for a new one.",
    "UNKNOWN_CA": "The gateway does not know the CA of your client certificate: use the one that "
    "was issued for this gateway, with its intermediate in the same file.",
    "BAD_CERTIFICATE": "The gateway refuses your client certificate.",
    "UNSUPPORTED_CERTIFICATE": "That certificate is not made for clients: use the one that was "
    "issued to you.",
    "CERTIFICATE_UNKNOWN": "The gateway refuses your client certificate.",
    "PROTOCOL_VERSION": "The server does not offer TLS 1.3, and nothing less is used.",
    "HANDSHAKE_FAILURE": "The server and this machine found no way of TLS 1.3 in common.",
    "WRONG_VERSION_NUMBER": "The server does not speak TLS on that port: look at the address.",
    "RECORD_LAYER_FAILURE": "The server does not speak TLS on that port: look at the address.",
}
_UNTRUSTED = "The gateway's certificate is not to be trusted: {reason}. {advice}"
_OTHER_CA = ("issuer", "self-signed", "self signed", "signature")
_ASK = "Ask its administrator; don't send anything before that is clear."
_SLOW = "The gateway did not answer in time."
_ENDED = (
    "The connection ended without an answer. If it does so each time, the gateway may refuse your "
    "certificate."
)
_NEVER_CONNECTED = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
)


def explain(call: Call, failure: Exception) -> GatepostError:
    """Return the error for a call that got no answer; `failure` is one of TransportFailure."""
    error = _tls(call, failure) or _lost(call, failure)
    error.__cause__ = failure
    return error


def _tls(call: Call, failure: Exception) -> CertificateError | None:
    for cause in _causes(failure):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return CertificateError(_distrust(cause), request_id=call.request_id)
        if isinstance(cause, ssl.SSLError):
            for name, words in _ALERTS.items():
                if (getattr(cause, "reason", None) or "").endswith(name):
                    return CertificateError(words, request_id=call.request_id)
    return None


def _distrust(error: ssl.SSLCertVerificationError) -> str:
    reason = getattr(error, "verify_message", "") or str(error)
    if "mismatch" in reason:
        advice = "Use the host name that the certificate carries."
    elif any(sign in reason for sign in _OTHER_CA):
        advice = "Give the CA file that came with your certificate, and look at the address."
    else:
        advice = _ASK
    return _UNTRUSTED.format(reason=reason.rstrip("."), advice=advice)


def _lost(call: Call, failure: Exception) -> GatepostError:
    if isinstance(failure, _NEVER_CONNECTED):
        words = f"The gateway can't be reached: {_reason(failure)}."
        return Unavailable(words, request_id=call.request_id)
    words = _SLOW if isinstance(failure, httpx.TimeoutException) else _ENDED
    if call.repeatable:
        return Unavailable(words, request_id=call.request_id)
    return OutcomeUnknown(f"{words} {OutcomeUnknown.advice}", request_id=call.request_id)


def _reason(failure: Exception) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return "it did not answer in time"
    if isinstance(failure, httpx.ProxyError):
        return "the proxy refuses to connect to it"
    for cause in _causes(failure):
        if isinstance(cause, ConnectionRefusedError):
            return "nothing listens at that address"
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror[:1].lower() + cause.strerror[1:]
    return "the connection failed"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what it came from, outermost first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
