"""What others have made is read, or it is Unreadable: nothing else ever comes out of it."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from ssl import DER_cert_to_PEM_cert
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.errors import BadIdentity, Invalid
from gatepost.trust.certificate_rules import is_issued_by
from gatepost.trust.certificates import (
    Unreadable,
    key_of,
    read_certificate,
    read_certificates,
    read_crl,
    read_private_key,
    read_question,
    read_request,
    reading,
    signed_by,
)
from gatepost.trust.identity import Certificate
from main_server.ca.anchors.rules import make_anchor, make_foreign, read_one
from main_server.ca.parts import hosts_of
from tests.factories import Pki, identity
from tests.forging import Form, Signer, altered, odd_certificates, pem_of, read_signer, sign
from tests.partner import PartnerCa

ROOMS = ("gatepost", "proxy", "worker", "main_server", "portal", "analytics")
READS = re.compile(r"\b(load_(der|pem)_|get_extension_for_)")
ODD = ["UnsupportedGeneralNameType", "TypeError", "ValueError", "KeyError"]
ODD += ["DuplicateExtension", "InvalidVersion"]


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    folder: Path = tmp_path_factory.mktemp("ca")
    Pki(folder)
    return read_signer(folder, "intermediate")


@pytest.fixture(autouse=True)
def _odd_numbers() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of serials that aren't positive
        yield


def looks() -> dict[str, Callable[[Certificate], object]]:
    names = ("caller", "server", "named", "identity", "issuer", "serial", "not_after", "not_before")
    return {name: lambda one, name=name: getattr(one, name) for name in names}  # type: ignore[misc]


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_certificate_is_unreadable_and_still_told_by_its_fingerprint(
    signer: Signer, kind: str
) -> None:
    der = odd_certificates(signer)[kind]
    assert raised_by(lambda: list(x509.load_der_x509_certificate(der).extensions)) == kind
    with pytest.raises(Unreadable):
        read_certificate(der)
    one = Certificate(der)
    assert one.listed_number.endswith(one.fingerprint[1:32])
    for look in looks().values():
        with pytest.raises(BadIdentity, match="can't be read"):
            look(one)


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_certificate_is_neither_registered_nor_trusted(signer: Signer, kind: str) -> None:
    der = odd_certificates(signer)[kind]
    with pytest.raises(Invalid):
        read_one(der_to_pem(der))


def der_to_pem(der: bytes) -> bytes:
    return DER_cert_to_PEM_cert(der).encode()


def test_no_altered_certificate_raises_anything_else(signer: Signer) -> None:
    certificate, _ = sign(Form(signer, uris=(identity().uri,)))
    for der in altered(certificate.public_bytes(Encoding.DER)):
        one = Certificate(der)
        for look in looks().values():
            attempt(lambda: look(one), BadIdentity)  # noqa: B023 - called at once
        attempt(lambda: is_issued_by(read_certificate(der), signer.certificate), Unreadable)  # noqa: B023


def test_no_altered_anchor_or_certificate_of_one_raises_anything_but_invalid() -> None:
    ca, now = PartnerCa(), datetime.now(UTC)
    anchor = make_anchor(ca.certificate, "example.com", [], now)
    leaf = ca.certificate.public_bytes(Encoding.DER)

    def try_it(der: bytes) -> None:
        one = read_one(der_to_pem(der))
        make_anchor(one, "example.com", [ca.certificate], now)

    def register(der: bytes) -> None:
        make_foreign(read_one(der_to_pem(der)), identity(), [anchor], now)

    for der in altered(leaf):
        attempt(lambda: try_it(der), Invalid)  # noqa: B023
        attempt(lambda: register(der), Invalid)  # noqa: B023


def test_no_key_of_another_kind_passes_for_one(signer: Signer) -> None:
    certificate, key = sign(Form(signer))
    assert key_of(certificate) == key.public_key()
    for der in altered(certificate.public_bytes(Encoding.DER)):
        attempt(lambda: key_of(read_certificate(der)), Unreadable)  # noqa: B023
        attempt(lambda: signed_by(read_certificate(der)), Unreadable)  # noqa: B023
    for pem in altered(pem_of(key)):
        attempt(lambda: read_private_key(pem), Unreadable)  # noqa: B023


@pytest.mark.parametrize(
    "read", [read_certificate, read_certificates, read_request, read_crl, read_question]
)
def test_what_is_none_at_all_is_unreadable(read: Callable[[bytes], Any]) -> None:
    for data in (b"", b"\x30\x00", b"\0" * 99, b"-----BEGIN", b"\xff" * 9, b"\x30\x84\xff\xff"):
        with pytest.raises(Unreadable):
            read(data)


def test_what_makes_the_reader_itself_fail_is_unreadable() -> None:
    """Rust's panics are no Exception to Python: one would end the process that reads."""
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(Unreadable), reading("the certificate"):
        raise panic()
    with pytest.raises(KeyboardInterrupt), reading("the certificate"):
        raise KeyboardInterrupt


def test_one_without_names_is_for_no_host(signer: Signer) -> None:
    assert hosts_of(sign(Form(signer))[0]) == []


def test_nobody_else_reads_any() -> None:
    """What is read elsewhere is caught elsewhere, and some kind of error is forgotten there."""
    for room in ROOMS:
        for file in Path(room).rglob("*.py"):
            if file == Path("gatepost/trust/certificates.py"):
                continue
            assert not READS.search(file.read_text("utf-8")), file


def attempt(look: Callable[[], object], allowed: type[Exception]) -> None:
    with suppress(allowed):
        look()


def raised_by(look: Callable[[], object]) -> str:
    try:
        look()
    except Exception as error:
        return type(error).__name__
    return "nothing"
