"""A renewal's answer comes through a proxy: what it may replace, and what it may not."""

import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509

from gatepost.client.errors import CertificateError, Problem, Refused, Unavailable
from gatepost.client.files import Files
from gatepost.client.keys import KEY_USED
from gatepost.client.replacing import replace
from gatepost.trust.identity import Identity, Role
from main_server.ca.authority import Authority, Usage
from main_server.ca.parts import to_pem
from tests.forging import read_signer, subordinate
from tests.unit.client.issuing import Answer, Issuing, sign, smuggled


@pytest.fixture
def ours(tmp_path: Path) -> Issuing:
    return Issuing(tmp_path / "ours")


@pytest.fixture
def rogue(tmp_path: Path) -> Issuing:
    return Issuing(tmp_path / "rogue")


@pytest.fixture
def files(ours: Issuing, tmp_path: Path) -> Files:
    return ours.give(tmp_path / "holder")


def read(files: Files) -> list[bytes]:
    return [file.read_bytes() for file in (files.ca, files.cert, files.key)]


def renewed(files: Files, ask: Callable[[bytes], Answer]) -> bool:
    return replace(files, ask, lambda _new: None, only_if_due=False)


def refused(files: Files, ask: Callable[[bytes], Answer]) -> str:
    before = read(files)
    with pytest.raises(CertificateError) as caught:
        renewed(files, ask)
    assert read(files) == before
    with files.alone():
        assert read(files) == before, "nor is anything of it left that would be taken up later"
    return str(caught.value)


def with_ca(issuing: Issuing, ca: bytes, csr: bytes) -> Answer:
    return {**issuing.answer(csr), "ca": ca.decode()}


def test_a_new_pair_and_what_is_trusted_take_the_place_of_the_old(
    ours: Issuing, files: Files
) -> None:
    before = files.leaf()
    ours.prepare()
    assert renewed(files, ours.answer)
    assert files.leaf().serial_number != before.serial_number
    assert files.ca.read_bytes() == ours.pins
    assert ours.pins.count(b"BEGIN") == 3


def test_another_ca_is_not_believed(rogue: Issuing, files: Files) -> None:
    assert "root is another" in refused(files, rogue.answer)


def test_nor_is_one_that_comes_behind_our_root(ours: Issuing, rogue: Issuing, files: Files) -> None:
    """Its root, its intermediate, or both."""
    root, intermediate = to_pem(rogue.root), to_pem(rogue.authority.certificate)
    for more in (root, intermediate, root + intermediate):
        ask = partial(with_ca, rogue, to_pem(ours.root) + more)
        assert "does not hang together" in refused(files, ask)


@pytest.mark.parametrize(
    ("root", "is_ca"),
    [
        ("intermediate", False),
        ("intermediate", True),
        ("root", False),
    ],
)
def test_only_a_root_counts_as_one_and_only_a_ca_below_it(
    ours: Issuing, files: Files, root: str, is_ca: bool
) -> None:
    """A thief's own certificate is of our CA as well, but it is no CA: whoever has its key."""
    signer = read_signer(ours.folder, root)
    thief = subordinate(signer, ca=is_ca)
    ca = to_pem(signer.certificate) + to_pem(thief.certificate)

    def ask(csr: bytes) -> Answer:
        key = x509.load_der_x509_csr(csr).public_key()
        by_thief = Authority(thief.certificate, thief.key)
        return {"cert": sign(by_thief, key), "ca": ca.decode()}

    assert "does not hang together" in refused(files, ask)


def test_what_others_would_read_in_the_text_is_not_kept(
    ours: Issuing, rogue: Issuing, files: Files
) -> None:
    extra = smuggled(to_pem(rogue.root))
    assert renewed(files, partial(with_ca, ours, ours.pins + extra))
    context = ssl.create_default_context(cafile=files.ca)
    assert context.cert_store_stats()["x509_ca"] == 2
    assert files.ca.read_bytes() == ours.pins


def test_a_leaf_of_nobody_whom_our_root_knows_is_refused(
    ours: Issuing, rogue: Issuing, files: Files
) -> None:
    words = refused(files, partial(with_ca, rogue, ours.pins))
    assert "nobody whom our root knows" in words


def test_another_key_another_name_and_another_use_are_refused(ours: Issuing, files: Files) -> None:
    other = ours.give(files.ca.parent / "other")
    as_other = {"cert": other.cert.read_text(), "ca": ours.pins.decode()}
    assert "another key" in refused(files, lambda _: as_other)
    somebody = Identity("example.com", Role.CLIENT, "client_002")
    assert "somebody else" in refused(files, lambda csr: ours.answer(csr, somebody))
    as_server = refused(files, lambda csr: ours.answer(csr, usage=Usage.SERVER))
    assert "another use" in as_server


def test_nothing_changes_until_the_new_one_is_known(ours: Issuing, files: Files) -> None:
    before = read(files)
    ours.prepare()

    def settle(new: Files) -> None:
        assert read(files) == before
        assert new.leaf() != files.leaf()
        raise Unavailable("The gateway doesn't know it yet.")

    with pytest.raises(Unavailable):
        replace(files, ours.answer, settle, only_if_due=False)
    assert read(files) == before


def test_a_key_whose_certificate_is_lost_gives_way_to_another(ours: Issuing, files: Files) -> None:
    keys = []

    def ask(csr: bytes) -> Answer:
        keys.append(x509.load_der_x509_csr(csr).public_key())
        if len(keys) == 1:
            raise Unavailable("The answer is lost.")
        if keys[-1] == keys[0]:
            raise Refused("Make a new key.", problem=Problem(KEY_USED, "", 422, "Make a new key."))
        return ours.answer(csr)

    with pytest.raises(Unavailable):
        renewed(files, ask)
    assert renewed(files, ask)
    lost, tried, new = keys
    assert lost == tried
    assert files.leaf().public_key() == new


def test_a_ca_file_that_can_not_be_read_is_told_before_anything_is_asked(
    ours: Issuing, files: Files
) -> None:
    files.ca.unlink()
    with pytest.raises(CertificateError, match=r"ca\.pem can't be read"):
        renewed(files, lambda _: pytest.fail("asked"))
