"""Browsers in which somebody has signed in before: each keeps a token that says to which account.

It lets nobody in. The tries of such a browser are counted by themselves, so that whoever guesses
elsewhere, from however many networks, takes none of them from the account's holder.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gatepost.service.access_tokens import ALGORITHM, Signer, key_of
from main_server.people.sessions import backoff
from main_server.people.sessions.backoff import Kind

LIFETIME = timedelta(days=180)
"""The life of a token since somebody last signed in; at most until the key that signs is another
one."""
_AUDIENCE = "gatepost-browser"
_REQUIRED = ["sub", "aud", "exp", "jti"]


def mint(signer: Signer, domain: str, name: str, now: datetime) -> str:
    payload = {
        "sub": _account(domain, name),
        "aud": _AUDIENCE,
        "exp": now + LIFETIME,
        "jti": str(uuid4()),
    }
    return jwt.encode(payload, signer.key, ALGORITHM, headers={"kid": signer.kid})


def known(
    token: str | None, keys: Mapping[str, Ed25519PublicKey], domain: str, name: str
) -> str | None:
    """Return what this browser is called, if this account's holder has signed in with it."""
    key = keys.get(key_of(token) or "") if token else None
    if token is None or key is None:
        return None
    try:
        said = jwt.decode(token, key, [ALGORITHM], {"require": _REQUIRED}, audience=_AUDIENCE)
    except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return str(said["jti"]) if said["sub"] == _account(domain, name) else None


def _account(domain: str, name: str) -> str:
    return backoff.key_of(Kind.ACCOUNT, domain, name).hex()
