"""A bad file is named, with what is wrong about it, before anything is sent."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from gatepost.client import CertificateError
from gatepost.client.trust import trust
from tests.unit.client.gateway import Authority, Pair


def test_good_files_make_a_context_of_tls_1_3(authority: Authority, client_pair: Pair) -> None:
    context = trust(authority.ca, client_pair.cert, client_pair.key)
    assert context.minimum_version.name == "TLSv1_3"
    assert context.check_hostname


def test_a_missing_file(authority: Authority, client_pair: Pair, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.pem"
    for files in (
        (nothing, client_pair.cert, client_pair.key),
        (authority.ca, nothing, client_pair.key),
        (authority.ca, client_pair.cert, nothing),
    ):
        with pytest.raises(CertificateError, match=r"nothing\.pem can't be read: No such file"):
            trust(*files)


def test_a_file_of_something_else(authority: Authority, client_pair: Pair, tmp_path: Path) -> None:
    words = tmp_path / "words.pem"
    words.write_text("words")
    for files in (
        (words, client_pair.cert, client_pair.key),
        (authority.ca, words, client_pair.key),
        (authority.ca, client_pair.cert, words),
        (authority.ca, client_pair.key, client_pair.key),
        (authority.ca, client_pair.cert, client_pair.cert),
    ):
        with pytest.raises(CertificateError, match="not what it should be"):
            trust(*files)


def test_a_key_of_another_certificate(authority: Authority, client_pair: Pair) -> None:
    other = authority.issue("other")
    with pytest.raises(CertificateError, match="does not belong"):
        trust(authority.ca, client_pair.cert, other.key)


def test_an_encrypted_key_asks_nobody(
    authority: Authority, client_pair: Pair, tmp_path: Path
) -> None:
    key = serialization.load_pem_private_key(client_pair.key.read_bytes(), None)
    locked = tmp_path / "locked.key"
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
    )
    with pytest.raises(CertificateError, match="encrypted"):
        trust(authority.ca, client_pair.cert, locked)
