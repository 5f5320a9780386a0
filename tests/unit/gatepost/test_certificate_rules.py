"""What TLS lets pass and we don't; the whole matrix meets the ports in tests/acceptance."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ObjectIdentifier

from gatepost.errors import BadIdentity
from gatepost.trust.identity import Certificate
from tests.factories import Pki, identity
from tests.forging import (
    CLIENT_AUTH,
    SERVER_AUTH,
    Form,
    Signer,
    by_openssl,
    der_uri,
    read_signer,
    sign,
    signed_again,
)


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    folder: Path = tmp_path_factory.mktemp("ca")
    Pki(folder)
    return read_signer(folder, "intermediate")


def made(signer: Signer, **given: Any) -> Certificate:
    certificate, _ = sign(Form(signer, **({"uris": (identity().uri,)} | given)))
    return Certificate(certificate.public_bytes(Encoding.DER))


def of(curve: ec.EllipticCurve) -> Callable[[], Any]:
    return lambda: ec.generate_private_key(curve)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"key": of(ec.SECP384R1()), "digest": hashes.SHA384()},
        {"key": lambda: rsa.generate_private_key(65537, 3072)},
        {"digest": hashes.SHA512()},
        {"ca": None},
    ],
)
def test_a_good_one_is_whom_it_names(signer: Signer, given: dict[str, Any]) -> None:
    assert made(signer, **given).caller == identity()


def test_one_for_calling_is_none_for_being_called_and_the_other_way_round(signer: Signer) -> None:
    calling, called = made(signer), made(signer, purposes=(SERVER_AUTH,))
    assert called.server == identity()
    with pytest.raises(BadIdentity, match="extended key usage is not the one"):
        _ = calling.server
    with pytest.raises(BadIdentity, match="extended key usage is not the one"):
        _ = called.caller


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"purposes": None}, "no extended key usage"),
        ({"purposes": (CLIENT_AUTH, SERVER_AUTH)}, "not the one"),
        ({"ca": True}, "of a CA"),
        ({"usages": None}, "key usage"),
        ({"usages": ("digital_signature", "key_cert_sign")}, "key usage"),
        ({"key": of(ec.SECP521R1())}, "none of P-256"),
        ({"key": of(ec.SECP256K1())}, "none of P-256"),
        ({"digest": hashes.SHA224()}, "not by SHA-256"),
        ({"raw_names": b"\x30\x03\x86\x7f\x00"}, "can't be read"),
        ({"uris": ()}, "gatepost enrol"),
    ],
)
def test_what_is_wrong_with_it_is_told(signer: Signer, given: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadIdentity, match=reason):
        _ = made(signer, **given).caller


def test_version_1_is_told_so(signer: Signer, tmp_path: Path) -> None:
    pem, _ = by_openssl(signer, tmp_path, None)
    [first, *_] = x509.load_pem_x509_certificates(pem)
    with pytest.raises(BadIdentity, match="version 3"):
        _ = Certificate(first.public_bytes(Encoding.DER)).caller


def test_two_extensions_of_the_same_kind_are_not_chosen_from(signer: Signer) -> None:
    """Under another number first, for the library makes no extension twice."""
    spare = x509.UnrecognizedExtension(
        ObjectIdentifier("2.5.29.99"), der_uri(b"gatepost://gatepost/admin/admin")
    )
    certificate, _ = sign(Form(signer, uris=(identity().uri,), more=((spare, False),)))
    content, number = certificate.tbs_certificate_bytes, b"\x55\x1d\x63"
    assert content.count(number) == 1
    pem = signed_again(content.replace(number, b"\x55\x1d\x11"), signer)
    twice = Certificate(x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER))
    with pytest.raises(BadIdentity, match="can't be read"):
        _ = twice.caller
