"""Access tokens: what we mint is believed, and nothing else, however it is dressed up."""

import base64
import hmac
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gatepost.errors import NotSignedIn
from gatepost.service.access_tokens import (
    LIFETIME,
    MOST_CLIENTS,
    Claims,
    Signer,
    key_of,
    mint,
    verify,
)
from gatepost.wire.people import UserRole

KEY = Ed25519PrivateKey.generate()
SIGNER = Signer("k1", KEY)
KEYS = {"k1": KEY.public_key()}
CLAIMS = Claims(uuid4(), uuid4(), "alice", "example.com", UserRole.USER, "Europe/Berlin")


def now() -> datetime:
    return datetime.now(UTC)


def minted(at: datetime | None = None, signer: Signer = SIGNER) -> str:
    return mint(signer, CLAIMS, ["example.com:a"], at or now())


def payload(**given: Any) -> dict[str, Any]:
    """What a good token says, but for these; None takes a claim away."""
    said: dict[str, Any] = jwt.decode(minted(), options={"verify_signature": False})
    return {name: value for name, value in (said | given).items() if value is not None}


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forged(header: dict[str, Any], signature: bytes = b"", **given: Any) -> str:
    parts = [b64(json.dumps(part).encode()) for part in (header, payload(**given))]
    return ".".join([*parts, b64(signature)])


def by_hmac(secret: bytes, algorithm: str = "HS256") -> str:
    token = forged({"alg": algorithm, "typ": "JWT", "kid": "k1"})
    signed = token.rpartition(".")[0]
    return f"{signed}.{b64(hmac.digest(secret, signed.encode(), sha256))}"


def refused(token: str) -> bool:
    try:
        verify(token, KEYS, now())
    except NotSignedIn:
        return True
    return False


def test_what_we_mint_is_believed_for_half_an_hour() -> None:
    assert verify(minted(), KEYS, now()) == CLAIMS
    assert verify(minted(now() - LIFETIME + timedelta(minutes=1)), KEYS, now()) == CLAIMS
    assert refused(minted(now() - LIFETIME - timedelta(seconds=10)))


@pytest.mark.parametrize("off", [timedelta(days=-3), timedelta(seconds=-7), timedelta(days=3)])
def test_it_is_judged_by_the_time_that_is_given(off: timedelta) -> None:
    """Not by this machine's clock, which may be wrong: that of who mints is corrected, too."""
    there = now() + off
    assert verify(minted(there), KEYS, there) == CLAIMS
    with pytest.raises(NotSignedIn):
        verify(minted(there), KEYS, there + LIFETIME + timedelta(seconds=10))


def test_of_many_clients_none_is_named() -> None:
    """Else who has many has a cookie that no browser keeps."""
    names = [f"{'d' * 128}:{'n' * 60}{number:04}" for number in range(500)]
    for count in (MOST_CLIENTS, 9, 500):
        assert len(mint(SIGNER, CLAIMS, names[:count], now())) < 3800


def test_it_says_who_and_what() -> None:
    said = payload()
    assert said.keys() == {
        "sub", "sid", "name", "role", "domain", "client_ids", "zoneinfo",
        "iss", "aud", "iat", "exp", "jti",
    }  # fmt: skip
    assert said["role"] == "user"
    assert payload()["jti"] != said["jti"]
    assert key_of(minted()) == "k1"


@pytest.mark.parametrize(
    "algorithm",
    ["none", "None", "NONE", "nOnE", "none ", "", None, "EdDSA", "Ed25519", "HS256", "RS256"],
)
@pytest.mark.parametrize("signature", [b"", b"x" * 64])
def test_without_a_signature_it_is_refused(algorithm: str | None, signature: bytes) -> None:
    assert refused(forged({"alg": algorithm, "typ": "JWT", "kid": "k1"}, signature))


@pytest.mark.parametrize("algorithm", ["HS256", "HS512", "EdDSA"])
def test_the_public_key_is_no_secret_to_sign_with(algorithm: str) -> None:
    public = KEY.public_key()
    for secret in (
        public.public_bytes_raw(),
        public.public_bytes_raw().hex().encode(),
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        b"",
    ):
        assert refused(by_hmac(secret, algorithm))


def test_another_key_is_refused_whatever_it_is_called() -> None:
    other = Ed25519PrivateKey.generate()
    assert refused(minted(signer=Signer("k1", other)))
    assert refused(minted(signer=Signer("k2", KEY)))
    key = rsa.generate_private_key(65537, 2048)
    assert refused(jwt.encode(payload(), key, "RS256", headers={"kid": "k1"}))


@pytest.mark.parametrize(
    "kid", [None, "", 1, ["k1"], {"a": 1}, "../k1", "/dev/null", "k1' OR '1'='1", "k1\0", "K1"]
)
def test_a_key_that_we_do_not_hold_is_refused(kid: Any) -> None:
    assert refused(forged({"alg": "EdDSA", "typ": "JWT", "kid": kid}, b"x" * 64))


@pytest.mark.parametrize("header", ["jwk", "jku", "x5c", "x5u", "crit", "b64"])
def test_a_key_that_it_brings_along_is_not_used(header: str) -> None:
    other = Ed25519PrivateKey.generate()
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": b64(other.public_key().public_bytes_raw())}
    value: Any = {"jwk": jwk, "crit": ["exp"], "b64": False}.get(header, "https://127.0.0.1/k")
    token = jwt.encode(payload(), other, "EdDSA", headers={"kid": "k1", header: value})
    assert refused(token)


@pytest.mark.parametrize(
    "given",
    [
        {"aud": "other"},
        {"aud": None},
        {"iss": "other"},
        {"iss": None},
        {"exp": None},
        {"exp": "never"},
        {"exp": []},
        {"exp": float("inf")},
        {"iat": None},
        {"jti": None},
        {"sub": None},
        {"sub": "admin"},
        {"sid": None},
        {"role": None},
        {"role": "root"},
        {"sid": 7},
        {"sid": "not a session"},
        {"nbf": 4_000_000_000},
    ],
)
def test_what_is_signed_but_says_something_else_is_refused(given: dict[str, Any]) -> None:
    assert refused(jwt.encode(payload(**given), KEY, "EdDSA", headers={"kid": "k1"}))


def test_another_role_under_the_same_signature_is_refused() -> None:
    header, _, signature = minted().split(".")
    for given in ({"role": "super-admin"}, {"domain": "gatepost"}, {"sub": str(uuid4())}):
        said = b64(json.dumps(payload(**given)).encode())
        assert refused(f"{header}.{said}.{signature}")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_single_changed_letter_is_seen(part: int) -> None:
    parts = minted().split(".")
    parts[part] = ("A" if parts[part][4] != "A" else "B").join([parts[part][:4], parts[part][5:]])
    assert refused(".".join(parts))


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "é", "x" * 10_000, "\udcff"])
def test_what_is_no_token_is_refused(token: str) -> None:
    assert refused(token)
