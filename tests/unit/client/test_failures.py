"""What a failed connection means: never reached, not trusted, or not known."""

import ssl

import httpx
import pytest

from gatepost.client.calls import Call, send_call, whoami_call
from gatepost.client.errors import CertificateError, GatepostError, OutcomeUnknown, Unavailable
from gatepost.client.failures import explain
from gatepost.client.messages import Message

SEND = send_call(Message("n", "b"), "k")
ASK = whoami_call()


def alert(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, f"[SSL: {reason}] words")
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("call", "failure", "expected"),
    [
        (SEND, httpx.ConnectError("words"), Unavailable),
        (SEND, httpx.ConnectTimeout("words"), Unavailable),
        (SEND, httpx.PoolTimeout("words"), Unavailable),
        (SEND, httpx.ReadTimeout("words"), OutcomeUnknown),
        (SEND, httpx.WriteTimeout("words"), OutcomeUnknown),
        (SEND, httpx.ReadError("words"), OutcomeUnknown),
        (SEND, httpx.WriteError("words"), OutcomeUnknown),
        (SEND, httpx.RemoteProtocolError("words"), OutcomeUnknown),
        (SEND, ssl.SSLError(1, "words"), OutcomeUnknown),
        (ASK, httpx.ReadTimeout("words"), Unavailable),
        (ASK, httpx.ReadError("words"), Unavailable),
        (ASK, httpx.RemoteProtocolError("words"), Unavailable),
        (SEND, alert("TLSV13_ALERT_CERTIFICATE_REQUIRED"), CertificateError),
        (SEND, alert("SSLV3_ALERT_CERTIFICATE_REVOKED"), CertificateError),
        (SEND, alert("TLSV1_ALERT_PROTOCOL_VERSION"), CertificateError),
        (SEND, alert("WRONG_VERSION_NUMBER"), CertificateError),
    ],
)
def test_a_failure_becomes_its_error(
    call: Call, failure: Exception, expected: type[GatepostError]
) -> None:
    error = explain(call, failure)
    assert type(error) is expected
    assert error.__cause__ is failure
    assert error.request_id == call.request_id


def test_the_reason_is_found_below_what_was_raised() -> None:
    failure = httpx.ReadError("words")
    failure.__cause__ = alert("TLSV1_ALERT_UNKNOWN_CA")
    error = explain(SEND, failure)
    assert isinstance(error, CertificateError)
    assert "does not know the CA" in str(error)
