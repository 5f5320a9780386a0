"""Make, tell and compare the codes of the second step. Pure.

An authenticator's code is that of RFC 6238: six digits of HMAC-SHA1 over the number of the half
minute. The one before and the one after count too, since clocks differ and people type; one that
was accepted, and all before it, count no more. Of recovery codes we keep digests. They are random,
of 80 bits, so that no slow hash is needed to keep them from being guessed.
"""

import hmac
import re
import secrets
from base64 import b32encode
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

STEP_SECONDS, DIGITS, AROUND = 30, 6, 1
RECOVERY_CODES = 10
_SECRET_BYTES, _RECOVERY_BYTES = 20, 10
_BETWEEN, _CODE = re.compile(r"[\s-]"), re.compile(r"\A[0-9]{6}\Z", re.ASCII)


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def step_at(now: datetime) -> int:
    """Return which half minute it is; `now` is aware."""
    return int(now.timestamp()) // STEP_SECONDS


def code_at(secret: bytes, step: int) -> str:
    return HOTP(secret, DIGITS, SHA1()).generate(step).decode()


def matching_step(secret: bytes, typed: str, now: datetime, after: int) -> int | None:
    """Return the half minute whose code was typed, if it is a later one than `after`."""
    code = _BETWEEN.sub("", typed)
    if not _CODE.match(code):
        return None
    here = step_at(now)
    steps = range(here - AROUND, here + AROUND + 1)
    # Each is looked at, so that the time it takes doesn't tell which it was.
    found = [step for step in steps if hmac.compare_digest(code_at(secret, step), code)]
    return next((step for step in found if step > after), None)


def new_recovery_codes() -> list[str]:
    return [
        _grouped(b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode())
        for _ in range(RECOVERY_CODES)
    ]


def recovery_digest(user_id: bytes, typed: str) -> bytes:
    """Return the digest of a recovery code, however it was typed; bound to whose it is."""
    code = _BETWEEN.sub("", typed).upper()
    return sha256(b"gatepost recovery code " + user_id + code.encode(errors="replace")).digest()


def key_in_words(secret: bytes) -> str:
    """Return the secret for typing, where no picture can be taken."""
    return _grouped(b32encode(secret).decode())


def address_of(secret: bytes, name: str, domain: str) -> str:
    """Return what the picture says to an authenticator."""
    label = quote(f"Gatepost:{name}@{domain}", safe=":@")
    key = b32encode(secret).decode()
    return f"otpauth://totp/{label}?{urlencode({'secret': key, 'issuer': 'Gatepost'})}"


def _grouped(text: str) -> str:
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))
