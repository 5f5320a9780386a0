"""Access tokens: JWTs that say who has signed in. The main server mints them, anybody can verify.

The algorithm and the key that a token names are not believed: there is one algorithm, and a key
counts if it is one of those that we hold. And a token only says who asks; what they may do is what
the ledger says at that moment.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gatepost.errors import NotSignedIn
from gatepost.wire.people import UserRole

LIFETIME = timedelta(minutes=30)
ALGORITHM, _ISSUER, _AUDIENCE = "EdDSA", "gatepost", "gatepost-portal"
_REQUIRED = ["sub", "sid", "name", "domain", "role", "iss", "aud", "iat", "exp", "jti"]
_CLOCKS_DIFFER = timedelta(seconds=5)
MOST_CLIENTS = 8


_UNREADABLE = (jwt.InvalidTokenError, ValueError, TypeError, OverflowError, RecursionError)
"""The errors that are raised for a token that anybody may have written: one nested too deep,
too."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The user who asks, and the session. The rest is how it was when the token was minted: good
    for a menu, not for a decision."""

    user_id: UUID
    session_id: UUID
    name: str
    domain: str
    role: UserRole
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class Signer:
    kid: str
    key: Ed25519PrivateKey


def mint(signer: Signer, claims: Claims, client_ids: list[str], now: datetime) -> str:
    """Return a signed token. It names clients where they are few: it is a cookie, of which browsers
    keep 4096 bytes."""
    payload = {
        "sub": str(claims.user_id),
        "sid": str(claims.session_id),
        "name": claims.name,
        "role": claims.role,
        "domain": claims.domain,
        "client_ids": client_ids if len(client_ids) <= MOST_CLIENTS else None,
        "zoneinfo": claims.time_zone,
        "iss": _ISSUER,
        "aud": _AUDIENCE,
        "iat": now,
        "exp": now + LIFETIME,
        "jti": str(uuid4()),
    }
    return jwt.encode(payload, signer.key, ALGORITHM, headers={"kid": signer.kid})


def key_of(token: str) -> str | None:
    """Return the id of the key that a token names; whether that is true is for `verify` to say."""
    try:
        kid = jwt.get_unverified_header(token).get("kid")
    except _UNREADABLE:
        return None
    return kid if isinstance(kid, str) else None


def verify(token: str, keys: Mapping[str, Ed25519PublicKey], now: datetime) -> Claims:
    """Return the claims of a token; raise NotSignedIn, whatever is wrong with it. `now` is by the
    clock that we all share: this machine's own may be wrong."""
    key = keys.get(key_of(token) or "")
    if key is None:
        raise NotSignedIn()
    try:
        said = jwt.decode(
            token,
            key,
            [ALGORITHM],
            {"require": _REQUIRED, "verify_exp": False, "verify_iat": False},
            audience=_AUDIENCE,
            issuer=_ISSUER,
        )
        if int(said["exp"]) <= (now - _CLOCKS_DIFFER).timestamp():
            raise NotSignedIn()
        user_id, session_id = UUID(str(said["sub"])), UUID(str(said["sid"]))
        role, zone = UserRole(str(said["role"])), said.get("zoneinfo")
        name, domain = str(said["name"]), str(said["domain"])
        return Claims(user_id, session_id, name, domain, role, str(zone) if zone else None)
    except _UNREADABLE:
        raise NotSignedIn() from None


def public_key(data: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(data)
