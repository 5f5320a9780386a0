"""`gatepost enrol`: what is interrupted goes on, and no lost answer bars another token."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.cli import enrolling
from gatepost.cli.failure import EXIT_OF_KIND
from gatepost.cli.main import run
from gatepost.client.configuration import read_configuration
from gatepost.client.enrolling import Enrolled
from gatepost.client.errors import GatepostError, Problem, Refused, Unavailable
from gatepost.client.keys import KEY_USED, make_request
from gatepost.wire.enrolment import Token, new_token
from tests.unit.client.issuing import Issuing

USED = Refused("Make a new key.", problem=Problem(KEY_USED, "", 422, "Make a new key."))
Command = Callable[..., int]


@pytest.fixture
def ours(tmp_path: Path) -> Issuing:
    return Issuing(tmp_path / "ours")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "partner"


@pytest.fixture
def enrol(ours: Issuing, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run with what it is answered, refusals and then the certificate; the exit code."""
    token = tmp_path / "token"
    token.write_text(str(new_token(ours.root.public_bytes(Encoding.DER))))

    def command(*refusals: GatepostError, asked: list[bytes]) -> int:
        left = list(refusals)

        def ask(_url: str, _token: Token, key: bytes, _proxy: str | None) -> Enrolled:
            asked.append(key)
            if left:
                raise left.pop(0)
            told = ours.answer(make_request(key))
            return Enrolled(told["cert"].encode(), told["ca"].encode(), None)

        monkeypatch.setattr(enrolling, "ask", ask)
        line = ["enrol", "http://pki.example.com:8002", "--folder", str(folder)]
        return run([*line, "--token-file", str(token)])

    return command


def test_what_is_interrupted_goes_on_with_the_same_key(enrol: Command, folder: Path) -> None:
    asked: list[bytes] = []
    assert enrol(Unavailable("It is away."), asked=asked) == EXIT_OF_KIND["unavailable"]
    assert enrol(Refused("No such token."), asked=asked) == EXIT_OF_KIND["refused"]
    assert enrol(asked=asked) == 0
    assert asked == [asked[0]] * 3
    assert (folder / "client.key").read_bytes() == asked[0]
    assert sorted(one.name for one in folder.iterdir()) == ["ca.pem", "client.key", "client.pem"]


def test_a_key_that_was_used_before_gives_way_to_a_new_one(enrol: Command, folder: Path) -> None:
    asked: list[bytes] = []
    assert enrol(Unavailable("The answer is lost."), asked=asked) == EXIT_OF_KIND["unavailable"]
    assert enrol(USED, asked=asked) == 0
    lost, tried, new = asked
    assert lost == tried != new
    assert (folder / "client.key").read_bytes() == new
    assert not (folder / "client.key.new").exists()


def test_a_new_key_is_tried_once(enrol: Command) -> None:
    asked: list[bytes] = []
    assert enrol(USED, asked=asked) == EXIT_OF_KIND["refused"]
    assert enrol(USED, USED, asked=asked) == EXIT_OF_KIND["refused"]
    assert len(asked) == 3


def test_what_it_leaves_is_enough_to_send_with(
    ours: Issuing, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also through the proxy that was named once."""
    asked: list[str | None] = []

    def ask(_url: str, _token: Token, key: bytes, proxy: str | None) -> Enrolled:
        asked.append(proxy)
        told = ours.answer(make_request(key))
        return Enrolled(told["cert"].encode(), told["ca"].encode(), "https://gateway:8001")

    monkeypatch.setattr(enrolling, "ask", ask)
    token = tmp_path / "token"
    token.write_text(str(new_token(ours.root.public_bytes(Encoding.DER))))
    proxy = "http://me:pass@proxy.example.com:3128"
    line = ["enrol", "http://pki.example.com:8002", "--folder", str(folder)]
    assert run([*line, "--token-file", str(token), "--proxy", "proxy:3128"]) == 2
    assert run([*line, "--token-file", str(token), "--proxy", proxy]) == 0
    assert asked == [proxy]
    found = read_configuration(folder / "config.toml")
    assert (found.url, found.proxy) == ("https://gateway:8001", proxy)
    assert found.key == str(folder / "client.key")
    assert (folder / "config.toml").stat().st_mode & 0o077 == 0
