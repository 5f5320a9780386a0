"""The pages of clients and certificates with all that they may show."""

from typing import Any

from gatepost.wire.holders import (
    Certificate,
    CertificateDetail,
    CertificatePage,
    Client,
    Ending,
    IssuedCertificate,
    KeptToken,
    MadeToken,
)
from portal.pages.certificates import Narrowed
from portal.pages.clients import Asked
from portal.pages.issuing import TYPED
from tests.unit.portal import kept_cases
from tests.unit.portal.hostile import HOSTILE, NOW, OPTIONS, WRONG

SERIAL = "ab" * 16
CERTIFICATE: dict[str, Any] = {
    "serial": SERIAL,
    "fingerprint": None,
    "identity": HOSTILE,
    "domain": HOSTILE,
    "role": "client",
    "name": HOSTILE,
    "status": "active",
    "issuer": None,
    "not_before": NOW,
    "not_after": NOW,
    "created_at": NOW,
    "revoked_at": None,
    "reason": None,
    "usage": None,
    "origin": None,
    "actor": None,
    "predecessor": None,
    "anchor": None,
}
WHOLE = {
    "fingerprint": HOSTILE,
    "issuer": HOSTILE,
    "revoked_at": NOW,
    "reason": HOSTILE,
    "usage": "server",
    "origin": "renewed",
    "actor": HOSTILE,
    "predecessor": SERIAL,
    "anchor": HOSTILE,
}
DETAIL: dict[str, Any] = {"hosts": [], "successors": [], "last_used_at": None, "pem": None}
MORE: dict[str, Any] = {
    "hosts": [HOSTILE], "successors": [SERIAL], "last_used_at": NOW, "pem": HOSTILE,
}  # fmt: skip
STATUSES = ("active", "expired", "held", "revoked", "intended")
SHOWN = [
    CertificateDetail(**(CERTIFICATE | WHOLE | MORE | {"status": status, "role": role}))
    for status in STATUSES
    for role in ("client", "proxy")
]
SHOWN += [
    CertificateDetail(**(CERTIFICATE | DETAIL | {"status": status}))
    for status in STATUSES
    if status not in ("held", "revoked")
]
LISTED = [
    Certificate(**(CERTIFICATE | {"status": status, "role": role, "usage": usage}))
    for status in STATUSES
    for role, usage in (("client", None), ("proxy", "server"))
]
CLIENTS = [
    Client(
        client_id=HOSTILE,
        domain=HOSTILE,
        name=HOSTILE,
        rate_per_second=1,
        burst=2,
        created_at=NOW,
        disabled_at=disabled,
    )
    for disabled in (None, NOW)
]
TOKENS = [
    KeptToken(
        token="ab",
        identity=HOSTILE,
        serial=SERIAL,
        created_at=NOW,
        expires_at=NOW,
        used_at=NOW,
        withdrawn_at=NOW,
    )
]
ENDINGS = tuple(
    Ending(serial, "f", HOSTILE, usage, NOW, days)
    for serial, usage in (("", None), (SERIAL, "server"))
    for days in (0, 1, 7)
)
ISSUED: dict[str, Any] = {
    "cert": HOSTILE,
    "pkcs12": None,
    "fingerprint": "f",
    "serial": SERIAL,
    "identity": HOSTILE,
    "not_after": NOW,
    "ca": HOSTILE,
}
PAGES = [([], None), (LISTED, None), (LISTED, SERIAL)]
TYPED_BADLY = dict.fromkeys(TYPED, HOSTILE)

CASES: list[tuple[str, dict[str, Any]]] = [
    (
        "certificates.html",
        {
            "narrowed": narrowed,
            "page": CertificatePage(*page),
            "states": OPTIONS,
            "roles": OPTIONS,
            "expiring": OPTIONS,
            "problem": problem,
        },
    )
    for narrowed in (Narrowed(), Narrowed(*[HOSTILE] * 5))
    for page in PAGES
    for problem in WRONG
]
CASES += [
    ("certificate.html", {"certificate": one, "done": done, "untold": untold})
    for one in SHOWN
    for done, untold in ((None, None), (HOSTILE, None), (HOSTILE, HOSTILE))
]
CASES += [
    (
        template,
        {
            "certificate": SHOWN[which],
            "roles": ["client", "proxy"],
            "ways": {"csr": HOSTILE},
            "typed": typed,
            "problem": problem,
        },
    )
    for template in ("issue.html", "renew.html")
    for which in (0, 1)
    for typed in (TYPED, TYPED_BADLY)
    for problem in WRONG
]
CASES += [
    ("issued.html", {"made": IssuedCertificate(**ISSUED, key=key), "name": HOSTILE})
    for key in (None, HOSTILE)
]
CASES += [
    (
        "revoke.html",
        {
            "called": HOSTILE,
            "page": HOSTILE,
            "serials": serials,
            "tokens": tokens,
            "reasons": {HOSTILE: HOSTILE},
            "problem": problem,
        },
    )
    for serials, tokens in (([], 0), ([SERIAL], 0), ([], 1), ([SERIAL] * 30, 2))
    for problem in WRONG
]
LIMITS = {"domain": HOSTILE, "client": HOSTILE, "rate_per_second": HOSTILE, "burst": HOSTILE}
CASES += [
    (
        "clients.html",
        {
            "clients": clients,
            "asked": Asked(HOSTILE, HOSTILE, HOSTILE),
            "first": first,
            "following": following,
            "problem": problem,
            "typed": LIMITS,
        },
    )
    for clients, first, following in (([], True, None), ([], False, None), (CLIENTS, True, HOSTILE))
    for problem in WRONG
]
CASES += [
    (
        "client.html",
        {
            "client": client,
            "kept": kept,
            "certificates": certificates,
            "tokens": tokens,
            "done": done,
            "untold": untold,
            "problem": problem,
        },
    )
    for client in CLIENTS
    for kept in kept_cases.SHOWN[-2:]
    for certificates, tokens in (([], []), (LISTED, TOKENS))
    for done, untold in ((None, None), (HOSTILE, HOSTILE))
    for problem in WRONG
]
CASES += [
    (
        "tokens.html",
        {
            "tokens": tokens,
            "following": following,
            "lives": {"60": HOSTILE},
            "typed": {"client": HOSTILE, "minutes": HOSTILE},
            "done": done,
            "problem": problem,
        },
    )
    for tokens in ([], [(TOKENS[0], state) for state in ("open", "used", "withdrawn", "over")])
    for done, following in ((False, None), (True, HOSTILE))
    for problem in WRONG
]
CASES += [
    ("token.html", {"made": MadeToken(HOSTILE, HOSTILE, NOW, url)}) for url in (None, HOSTILE)
]
