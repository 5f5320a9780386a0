"""A browser is known for the account that signed in with it, and for nothing else."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gatepost.errors import NotSignedIn
from gatepost.service import access_tokens
from gatepost.service.access_tokens import Claims, Signer
from gatepost.wire.people import UserRole
from main_server.people.sessions.browsers import LIFETIME, known, mint

SIGNER = Signer("k1", Ed25519PrivateKey.generate())
KEYS = {"k1": SIGNER.key.public_key()}
NOW = datetime.now(UTC)
WHO = ("example.com", "alice")


def test_it_is_known_for_its_account_alone() -> None:
    token = mint(SIGNER, *WHO, NOW)
    name = known(token, KEYS, *WHO)
    assert name is not None
    assert known(token, KEYS, *WHO) == name
    assert known(mint(SIGNER, *WHO, NOW), KEYS, *WHO) != name, "each is another one"
    for who in (("example.com", "bob"), ("other.example", "alice"), ("example", "com\0alice")):
        assert known(token, KEYS, *who) is None


def test_the_token_names_nobody() -> None:
    said = str(jwt.decode(mint(SIGNER, *WHO, NOW), options={"verify_signature": False}))
    assert "alice" not in said
    assert "example" not in said


def test_it_is_forgotten_after_a_while() -> None:
    assert known(mint(SIGNER, *WHO, NOW - LIFETIME - timedelta(minutes=1)), KEYS, *WHO) is None


@pytest.mark.parametrize("token", [None, "", "x", "a.b.c", "é", "\udcff"])
def test_what_is_no_token_is_passed_over(token: str | None) -> None:
    assert known(token, KEYS, *WHO) is None


def test_another_key_makes_no_browser_known() -> None:
    forged = mint(Signer("k1", Ed25519PrivateKey.generate()), *WHO, NOW)
    assert known(forged, KEYS, *WHO) is None
    assert known(mint(SIGNER, *WHO, NOW), {}, *WHO) is None


def test_neither_stands_for_the_other() -> None:
    with pytest.raises(NotSignedIn):
        access_tokens.verify(mint(SIGNER, *WHO, NOW), KEYS, NOW)
    claims = Claims(uuid4(), uuid4(), "alice", "example.com", UserRole.USER)
    assert known(access_tokens.mint(SIGNER, claims, [], NOW), KEYS, *WHO) is None
