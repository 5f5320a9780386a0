"""The key of the certificate that is renewed: without it, words and no traceback."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from gatepost.client.errors import CertificateError
from gatepost.client.files import Files
from gatepost.client.renewing import sign
from main_server.ca.authority import new_key
from tests.unit.client.issuing import Issuing


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Issuing(tmp_path / "ours").give(tmp_path / "holder")


def test_a_key_that_is_missing_encrypted_or_none_is_told(files: Files) -> None:
    password = BestAvailableEncryption(b"correct horse")
    encrypted = new_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, password)
    for content, words in ((encrypted, "is encrypted"), (b"nonsense", "no PEM")):
        files.key.write_bytes(content)
        with pytest.raises(CertificateError, match=words):
            sign(files, b"")
    files.key.unlink()
    with pytest.raises(CertificateError, match="can't be read"):
        sign(files, b"")


def test_what_was_interrupted_is_not_finished_without_a_key(files: Files) -> None:
    before = files.cert.read_bytes()
    files.prepare(before)
    files.key.unlink()
    with pytest.raises(CertificateError, match="can't be read"), files.alone():
        pytest.fail("finished")
    assert files.cert.read_bytes() == before
