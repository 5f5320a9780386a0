"""TLS contexts: nothing but 1.3, nobody without a certificate, no sessions resumed."""

import ssl
from pathlib import Path

import pytest

from gatepost.errors import ConfigurationError
from gatepost.trust.identity import Role
from gatepost.trust.tls import TlsFiles, client_context, server_context
from main_server.ca.authority import Usage
from tests.factories import Pair, Pki, identity


@pytest.fixture(scope="module")
def server(pki: Pki) -> Pair:
    return pki.issue(identity(Role.MAIN, "gatepost", "main-1"), Usage.SERVER)


@pytest.fixture(scope="module")
def caller(pki: Pki) -> Pair:
    return pki.issue(identity(Role.PROXY, "gatepost", "proxy-1"))


def ignored(_reason: str) -> None:
    pass


def test_a_server_takes_nothing_but_tls_1_3_and_a_certificate(server: Pair) -> None:
    context = server_context(server.files, ignored)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.num_tickets == 0


def test_a_caller_takes_nothing_but_tls_1_3_and_checks_the_name(caller: Pair) -> None:
    context = client_context(caller.files, Role.MAIN)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


class Handshake:
    """A handshake in memory: each side, and what it made of the other."""

    def __init__(self, server: ssl.SSLContext, caller: ssl.SSLContext) -> None:
        to_server, to_caller = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.server = server.wrap_bio(to_server, to_caller, server_side=True)
        self.caller = caller.wrap_bio(to_caller, to_server, server_hostname="localhost")

    def run(self) -> None:
        for _ in range(4):
            for side in (self.caller, self.server):
                try:
                    side.do_handshake()
                except ssl.SSLWantReadError:
                    continue
        self.server.write(b"x")
        assert self.caller.read(1) == b"x"


def test_a_caller_meets_the_role_that_it_expects(server: Pair, caller: Pair) -> None:
    refused: list[str] = []
    handshake = Handshake(
        server_context(server.files, refused.append), client_context(caller.files, Role.MAIN)
    )
    handshake.run()
    assert refused == []
    assert handshake.caller.version() == "TLSv1.3"


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.MAIN])
def test_a_caller_refuses_a_server_of_another_role(pki: Pki, caller: Pair, role: Role) -> None:
    impostor = pki.issue(identity(role, "gatepost", "other-1"), Usage.SERVER)
    handshake = Handshake(
        server_context(impostor.files, ignored), client_context(caller.files, Role.MAIN)
    )
    with pytest.raises(ssl.SSLCertVerificationError, match="expected the role main"):
        handshake.run()


def test_a_certificate_for_calling_is_none_for_being_called(pki: Pki, caller: Pair) -> None:
    """Even with the right role: its extended key usage doesn't allow it."""
    impostor = pki.issue(identity(Role.MAIN, "gatepost", "main-1"), Usage.CLIENT)
    handshake = Handshake(
        server_context(impostor.files, ignored), client_context(caller.files, Role.MAIN)
    )
    with pytest.raises(ssl.SSLCertVerificationError, match=r"(?i)purpose"):
        handshake.run()


def test_a_certificate_for_being_called_is_none_for_calling(pki: Pki, server: Pair) -> None:
    refused: list[str] = []
    wrong = pki.issue(identity(Role.PROXY, "gatepost", "proxy-1"), Usage.SERVER)
    handshake = Handshake(
        server_context(server.files, refused.append), client_context(wrong.files, Role.MAIN)
    )
    with pytest.raises(ssl.SSLError):
        handshake.run()
    assert len(refused) == 1
    assert "purpose" in refused[0]


def test_a_server_says_why_it_turned_a_certificate_away(server: Pair, tmp_path: Path) -> None:
    refused: list[str] = []
    stranger = Pki(tmp_path / "elsewhere").issue(identity())
    files = TlsFiles(stranger.cert, stranger.key, server.ca)
    handshake = Handshake(server_context(server.files, refused.append), client_context(files))
    with pytest.raises(ssl.SSLError):
        handshake.run()
    assert refused == ["unable to get local issuer certificate"]


def test_a_caller_refuses_a_server_of_another_ca(caller: Pair, tmp_path: Path) -> None:
    stranger = Pki(tmp_path / "elsewhere").issue(identity(Role.MAIN), Usage.SERVER)
    handshake = Handshake(
        server_context(stranger.files, ignored), client_context(caller.files, Role.MAIN)
    )
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake.run()


@pytest.mark.parametrize("broken", ["cert_file", "key_file", "ca_file"])
@pytest.mark.parametrize("how", ["missing", "not PEM"])
def test_files_that_can_not_be_used_are_named(
    server: Pair, tmp_path: Path, broken: str, how: str
) -> None:
    bad = tmp_path / "bad.pem"
    if how == "not PEM":
        bad.write_text("nothing")
    files = {"cert_file": server.cert, "key_file": server.key, "ca_file": server.ca}
    with pytest.raises(ConfigurationError, match=r"bad\.pem( and .*)? can't be used"):
        server_context(TlsFiles(**(files | {broken: bad})), ignored)


def test_a_key_of_another_certificate_is_told(server: Pair, caller: Pair) -> None:
    with pytest.raises(ConfigurationError, match="can't be used"):
        server_context(TlsFiles(server.cert, caller.key, server.ca), ignored)
