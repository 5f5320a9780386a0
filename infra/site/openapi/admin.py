"""The calls that administrators' programs make at the main server."""

from functools import partial
from typing import Any

import msgspec

from gatepost.trust.identity import Role
from gatepost.trust.revocation import Reason
from gatepost.wire import holders, retention, subjects
from infra.site.openapi.calls import ALWAYS, ANYWHERE, READ, Call, Interface
from infra.site.openapi.schemas import words_of
from main_server.api.portal.messages import Status
from main_server.ca.authority import Usage
from main_server.ca.list_repository import Status as CertificateStatus

_CHANGE = (*READ, *ALWAYS, *ANYWHERE, "not-found", "keys-unavailable", "ledger-unavailable")
_LOOK = ("invalid", "not-found", *ALWAYS, *ANYWHERE, "ledger-unavailable")
_TO_CERTIFY = ("bad-order", "bad-signing-request", "key-used-before", "name-taken", *_CHANGE)


class Anchor(msgspec.Struct):
    """A CA that isn't ours, and the domain whose clients it may certify."""

    anchor: str
    domain: str
    subject: str
    not_after: str


class Anchors(msgspec.Struct):
    anchors: list[Anchor]


class AnchorRemoved(msgspec.Struct):
    """What was revoked with it."""

    serials: list[str]
    redis_told: bool


class Registered(msgspec.Struct):
    """A partner's own certificate that is known now."""

    identity: str
    serial: str
    fingerprint: str
    anchor: str
    not_after: str


def _look(path: str, summary: str, answer: Any, words: str = "") -> Call:
    return Call("GET", f"/admin{path}", summary, answer, words=words, problems=_LOOK)


def _post(  # one for each part of a call
    path: str,
    summary: str,
    request: Any,
    answer: Any,
    status: int = 200,
    example: Any = None,
    words: str = "",
    problems: tuple[str, ...] = _CHANGE,
) -> Call:
    path = f"/admin{path}"
    return Call("POST", path, summary, answer, status, request, example, None, words, problems)


_certify = partial(_post, status=201, problems=_TO_CERTIFY)
_WHICH = {"client_id": "example.com:partner", "reason": "keyCompromise"}
_ISSUED = holders.IssuedCertificate
_USAGE = {"usage": words_of(Usage)}
_CERTIFICATE = {
    "role": words_of(Role),
    "status": words_of(CertificateStatus),
    "reason": words_of(Reason),
    **_USAGE,
}
_WORDS = {
    "Certificate": _CERTIFICATE,
    "CertificateDetail": _CERTIFICATE,
    "CertificateOrder": _USAGE,
    "Ending": _USAGE,
    "SubjectMessage": {"status": words_of(Status)},
}

INTERFACE = Interface(
    name="admin",
    title="Administration",
    words="The main server's port: TLS 1.3 with a certificate of the role `admin`. An administrator"
    " of a partner's domain sees and changes that alone: what is another's isn't there for them.",
    server="https://main.example.com:8000",
    words_of=_WORDS,
    anywhere={"Cache-Control": "`no-store`: what is answered here is kept by nobody on the way."},
    calls=(
        _certify(
            "/certs",
            "Issue a certificate",
            holders.CertificateOrder,
            _ISSUED,
            example={"client_id": "example.com:partner"},
        ),
        _look("/certificates", "List certificates", holders.CertificatePage),
        _look("/certificates/{serial}", "Show a certificate", holders.CertificateDetail),
        _certify(
            "/certificates/{serial}/renew",
            "Issue one more like it",
            holders.RenewalOrder,
            _ISSUED,
            example={},
        ),
        _certify(
            "/certificates/register",
            "Make a partner's own certificate known",
            holders.Registration,
            Registered,
        ),
        _post(
            "/certificates/revoke",
            "Revoke certificates",
            holders.Target,
            holders.Changed,
            example=_WHICH,
            words="Out within a second of the answer, open connections too.",
        ),
        _post(
            "/certificates/hold",
            "Put certificates on hold",
            holders.Target,
            holders.Changed,
            example={"client_id": "example.com:partner"},
        ),
        _post(
            "/certificates/release",
            "Release certificates from hold",
            holders.Target,
            holders.Changed,
            example={"client_id": "example.com:partner"},
        ),
        _post(
            "/tokens",
            "Make a token to enrol with",
            holders.TokenOrder,
            holders.MadeToken,
            201,
            {"client_id": "example.com:partner", "minutes": 60},
        ),
        _look("/tokens", "List tokens", holders.KeptTokens),
        Call(
            "DELETE",
            "/admin/tokens/{token}",
            "Withdraw a token",
            None,
            204,
            problems=_LOOK,
        ),
        _post(
            "/clients",
            "Make a client",
            holders.ClientOrder,
            holders.Client,
            201,
            {"client_id": "example.com:partner", "rate_per_second": 100, "burst": 1000},
            problems=("name-taken", *_CHANGE),
        ),
        _look("/clients", "List clients", holders.ClientPage),
        _look("/clients/{client_id}", "Show a client", holders.Client),
        Call(
            "PATCH",
            "/admin/clients/{client_id}",
            "Change a client",
            holders.Client,
            200,
            holders.ClientChange,
            {"rate_per_second": 200},
            problems=("name-taken", *_CHANGE),
        ),
        _look("/endings", "List whose last certificate is over soon", holders.Endings),
        _look("/retention/domains/{domain}", "Show how long a domain's are kept", retention.Kept),
        _look(
            "/retention/clients/{client_id}", "Show how long a client's are kept", retention.Kept
        ),
        _post(
            "/retention/clients/{client_id}",
            "Set how long a client's are kept",
            retention.DaysOrder,
            retention.Kept,
            example={"retention_days": 14},
            problems=("bad-order", *_CHANGE),
        ),
        _post(
            "/retention/domains/{domain}/holds",
            "Put a legal hold on a domain",
            retention.HoldOrder,
            retention.Hold,
            201,
            {"reason": "case 4711"},
        ),
        _post(
            "/retention/clients/{client_id}/holds",
            "Put a legal hold on a client",
            retention.HoldOrder,
            retention.Hold,
            201,
            {"reason": "case 4711"},
        ),
        _post(
            "/retention/holds/{hold_id}/lift",
            "Lift a legal hold",
            retention.HoldOrder,
            retention.Hold,
            example={"reason": "closed"},
            problems=("another-needed", *_CHANGE),
        ),
        _look("/anchors", "List CAs that are trusted", Anchors),
        _post("/anchors", "Trust a partner's CA", holders.AnchorOrder, Anchor, 201),
        Call(
            "DELETE",
            "/admin/anchors/{anchor}",
            "Trust a partner's CA no more",
            AnchorRemoved,
            words="All that was registered by it is revoked.",
            problems=_LOOK,
        ),
        _look("/subjects", "List reports for data subjects", subjects.SubjectReports),
        _post(
            "/subjects",
            "Ask for a report for a data subject",
            subjects.SubjectOrder,
            subjects.SubjectReport,
            201,
            {"number": "+1234567890"},
        ),
        _post(
            "/subjects/{report_id}/approve",
            "Approve a report",
            None,
            subjects.SubjectReport,
            words="By another administrator than the one who asked.",
            problems=("another-needed", *_CHANGE),
        ),
        _look(
            "/subjects/{report_id}/messages",
            "Fetch a report",
            subjects.SubjectPage,
            "Each page is in the audit log.",
        ),
    ),
)
