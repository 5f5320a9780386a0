"""Readers of certificates, requests, lists, keys and tokens."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from ssl import DER_cert_to_PEM_cert
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_csr, ocsp

from gatepost.clock import Clock
from gatepost.errors import BadIdentity, BadSigningRequest, Invalid, NotSignedIn
from gatepost.service import access_tokens
from gatepost.trust.certificates import (
    Unreadable,
    key_of,
    read_certificate,
    read_certificates,
    read_crl,
    read_private_key,
    read_question,
)
from gatepost.trust.identity import Certificate, parse_uri
from gatepost.trust.revocation import Reason, Revocations
from gatepost.trust.revoked import NotBelieved, Revoked, key_id
from gatepost.trust.signed_list import read_list
from gatepost.wire.enrolment import is_signed, parse_token
from gatepost.wire.people import UserRole
from gatepost.wire.renewal import is_signed_by
from main_server.ca.anchors.rules import make_anchor, make_foreign, read_one
from main_server.ca.authority import load_authority
from main_server.ca.crl import Entry, build_crl
from main_server.ca.csr import key_for, read_csr
from main_server.ca.profiles import make_order
from main_server.people.sessions import browsers, service
from tests.csrs import make_csr
from tests.factories import Pki, identity
from tests.forging import Form, pem_of, read_signer, sign
from tests.hostile.readers import Reader, text_of
from tests.partner import PartnerCa


def list_readers(folder: Path) -> list[Reader]:
    ca = folder / "ca"
    Pki(ca)
    return [*_certificates(ca), *_requests(), *_lists(ca), *_tokens()]


def _certificates(ca: Path) -> list[Reader]:
    signer, partner, now = read_signer(ca, "intermediate"), PartnerCa(), datetime.now(UTC)
    certificate, key = sign(Form(signer, uris=(identity().uri,)))
    leaf = sign(Form(partner.signer))[0].public_bytes(Encoding.DER)
    anchor = make_anchor(partner.certificate, "example.com", [], now)
    der = certificate.public_bytes(Encoding.DER)
    view = Revoked([signer.certificate], Clock())

    def judge(data: bytes) -> None:
        """Each by itself: one that is for calling is none for being called."""
        one = Certificate(data)
        for name in ("caller", "named", "server", "identity", "not_after", "serial", "issuer"):
            with suppress(BadIdentity):
                getattr(one, name)
        with suppress(BadIdentity):
            view.is_revoked(one)

    def register(data: bytes) -> object:
        one = read_one(DER_cert_to_PEM_cert(data).encode())
        return make_foreign(one, identity(), [anchor], now)

    def trust(data: bytes) -> object:
        one = read_one(DER_cert_to_PEM_cert(data).encode())
        return make_anchor(one, "example.com", [signer.certificate], now)

    pem, root = DER_cert_to_PEM_cert(der).encode(), partner.certificate.public_bytes(Encoding.DER)
    return [
        Reader("peer's certificate", judge, der),
        Reader("certificate", read_certificate, der, (Unreadable,)),
        Reader("certificates", read_certificates, pem, (Unreadable,)),
        Reader("anchor", trust, root, (Invalid,)),
        Reader("anchor, PEM", read_one, partner.pem, (Invalid,)),
        Reader("partner's certificate", register, leaf, (Invalid,)),
        Reader("key's certificate", lambda d: key_of(read_certificate(d)), der, (Unreadable,)),
        Reader("private key", read_private_key, pem_of(key), (Unreadable,)),
        Reader("renewal's signature", lambda d: is_signed_by(certificate, d, b"csr"), b"0" * 70),
    ]


def _requests() -> list[Reader]:
    order, pem = make_order(identity()), make_csr(name=identity().name)
    der = load_pem_x509_csr(pem).public_bytes(Encoding.DER)
    bad = (BadSigningRequest,)
    return [
        Reader("request, PEM", lambda d: key_for(read_csr(d), order), pem, bad),
        Reader("request, DER", lambda d: key_for(read_csr(d), order), der, bad),
    ]


def _lists(ca: Path) -> list[Reader]:
    authority, now = load_authority(ca), datetime.now(UTC)
    crl = build_crl(authority, [Entry(7, Reason.SUPERSEDED, now)], now, None).der
    issuers = {key_id(authority.certificate): authority.certificate}
    view = Revoked([authority.certificate], Clock())
    question = ocsp.OCSPRequestBuilder().add_certificate(
        authority.certificate, authority.certificate, SHA1()
    )
    asked = question.build().public_bytes(Encoding.DER)
    return [
        Reader("signed list", lambda d: read_list(d, issuers), crl),
        Reader("list", read_crl, crl, (Unreadable,)),
        Reader("view", lambda d: view.learn(Revocations(1, [d])), crl, (NotBelieved,)),
        Reader("OCSP", read_question, asked, (Unreadable,)),
    ]


def _tokens() -> list[Reader]:
    key, now = Ed25519PrivateKey.generate(), datetime.now(UTC)
    keys = {"a": key.public_key()}
    claims = access_tokens.Claims(uuid4(), uuid4(), "bob", "a.example", UserRole.USER)
    token = access_tokens.mint(access_tokens.Signer("a", key), claims, [], now).encode()
    good = json.dumps(jwt.decode(token, options={"verify_signature": False})).encode()
    signed = jwt.api_jws.encode

    def verify(data: bytes) -> object:
        return access_tokens.verify(text_of(data), keys, now)

    def verify_payload(data: bytes) -> object:
        """Of what a main server of ours has signed."""
        return access_tokens.verify(signed(data, key, "EdDSA", headers={"kid": "a"}), keys, now)

    def browser(data: bytes) -> object:
        token = signed(data, key, "EdDSA", headers={"kid": "a"})
        browsers.known(text_of(data), keys, "a", "b")
        return browsers.known(token, keys, "a", "b")

    secret = b"00000000000000000000000000000000.family.secret"
    return [
        Reader("access token", verify, token, (NotSignedIn,)),
        Reader("access token's head", lambda d: access_tokens.key_of(_headed(d)), b'{"kid":"a"}'),
        Reader("access token's payload", verify_payload, good, (NotSignedIn,)),
        Reader("browser's token", browser, good),
        Reader("refresh token", lambda d: service._parse(text_of(d)), secret, (NotSignedIn,)),
        Reader("enrolment token", lambda d: parse_token(text_of(d)), b"ABCD-" * 13, (ValueError,)),
        Reader("enrolment's proof", lambda d: is_signed(d, d, d), bytes(32)),
        Reader("SAN URI", lambda d: parse_uri(text_of(d)), identity().uri.encode(), (BadIdentity,)),
    ]


def _headed(head: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(head).decode().rstrip("=") + ".e30.AAAA"
