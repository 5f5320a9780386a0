"""Our two steps of HKDF are the library's, to the byte."""

import secrets

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from gatepost.trust.derive import expand, extract


@pytest.mark.parametrize("size", [1, 16, 32, 64, 65, 200])
def test_they_are_the_librarys(size: int) -> None:
    secret, info = secrets.token_bytes(size), secrets.token_bytes(40)
    whole = HKDF(SHA256(), 32, salt=None, info=info).derive(secret)
    assert expand(extract(secret), info) == whole
    assert expand(extract(secret), info) == HKDFExpand(SHA256(), 32, info).derive(extract(secret))
