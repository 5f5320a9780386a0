"""The PKI port's calls: plain HTTP, for whoever reaches it. All that comes from there is signed."""

import msgspec

from infra.site.openapi.calls import Call, Interface
from main_server.api.pki import EnrolmentBody

_PEM = "application/x-pem-file"
_OFTEN = ("rate-limited", "unavailable", "internal", "method-not-allowed")


class Enrolled(msgspec.Struct):
    """PEM: the certificate with its intermediate, and what to trust; where to send."""

    cert: str
    ca: str
    gateway: str | None


INTERFACE = Interface(
    name="pki",
    title="The PKI port",
    words="Plain HTTP, without a certificate: what comes from here is signed, and what is sent here"
    " is of use to nobody else. An address may ask 100 times a second, and enrol once.",
    server="http://pki.example.com:8002",
    mutual_tls=False,
    calls=(
        Call(
            "POST",
            "/enrol",
            "Enrol with a token",
            words="The token itself is never sent: it makes a key that signs the request"
            " (`gatepost enrol` does it). Repeated with the same key, the same is answered.",
            request=EnrolmentBody,
            request_example={"public_key": "…", "signature": "…", "csr": "MIH…"},
            answer=Enrolled,
            answer_example={
                "cert": "-----BEGIN CERTIFICATE-----\n…",
                "ca": "-----BEGIN CERTIFICATE-----\n…",
                "gateway": "https://gateway.example.com:8001",
            },
            status=201,
            problems=(
                *("malformed", "too-large", "token-refused", "bad-signing-request"),
                *("key-used-before", *_OFTEN),
            ),
        ),
        Call("GET", "/ca.pem", "Get what to trust now", answer=_PEM, problems=_OFTEN),
        Call("GET", "/ca/root.pem", "Get the root", answer=_PEM, problems=_OFTEN),
        Call("GET", "/ca/intermediate.pem", "Get the intermediate", answer=_PEM, problems=_OFTEN),
        Call(
            "GET",
            "/ca/{kid}.cer",
            "Get a CA certificate by its key",
            words="As certificates name it (caIssuers).",
            answer="application/pkix-cert",
            problems=("not-found", *_OFTEN),
        ),
        Call(
            "GET",
            "/crl",
            "Get the list of revoked certificates",
            answer="application/pkix-crl",
            problems=_OFTEN,
        ),
        Call(
            "GET", "/crl.pem", "Get all lists of revoked certificates", answer=_PEM, problems=_OFTEN
        ),
        Call(
            "GET",
            "/crl/{kid}.crl",
            "Get the list of one issuer",
            words="As certificates name it (CRL distribution point).",
            answer="application/pkix-crl",
            problems=("not-found", *_OFTEN),
        ),
        Call(
            "POST",
            "/ocsp",
            "Ask about a certificate",
            words="RFC 6960; `GET /ocsp/{request}` with the request in base64 is the same.",
            request="application/ocsp-request",
            answer="application/ocsp-response",
            problems=_OFTEN,
        ),
        Call(
            "GET",
            "/ocsp/{request}",
            "Ask about a certificate by GET",
            answer="application/ocsp-response",
            problems=_OFTEN,
        ),
    ),
)
