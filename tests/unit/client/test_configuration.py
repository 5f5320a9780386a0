"""A client by its configuration file, and through a proxy: the gateway is reached, or why not is
said before anything is sent."""

import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from gatepost.client import AsyncClient, Client, NotSetUp, Unavailable
from gatepost.client.configuration import Configuration, read_configuration
from gatepost.client.connection import without_password
from tests.unit.client.conftest import Either
from tests.unit.client.gateway import WHOAMI, Gateway, Pair

NUMBER, BODY = "+15550100200", "The very secret words."


class Connecting:
    """A proxy that speaks CONNECT and nothing else; it remembers to where, and what it saw."""

    def __init__(self, status: bytes = b"200 OK") -> None:
        self.status = status
        self.heads: list[bytes] = []
        self.seen = b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @contextmanager
    def running(self) -> Iterator["Connecting"]:
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
            thread.join(5)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                taken, _ = self._socket.accept()
                threading.Thread(target=self._tunnel, args=(taken,), daemon=True).start()

    def _tunnel(self, taken: socket.socket) -> None:
        with suppress(OSError), closing(taken):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += taken.recv(1)
            self.heads.append(head)
            taken.sendall(b"HTTP/1.1 " + self.status + b"\r\nContent-Length: 0\r\n\r\n")
            host, _, port = head.split()[1].decode().rpartition(":")
            if not self.status.startswith(b"200"):
                return
            with closing(socket.create_connection((host, int(port)))) as there:
                self._pass(taken, there)

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        ends = {one: other, other: one}
        while True:
            for end in select.select(list(ends), [], [])[0]:
                data = end.recv(65536)
                if not data:
                    return
                self.seen += data
                ends[end].sendall(data)


@pytest.fixture
def file(tmp_path: Path, gateway: Gateway, client_pair: Pair) -> Path:
    """As `gatepost enrol` leaves it: the names of files are meant from where it is."""
    for name, source in (
        ("ca.pem", gateway.authority.ca),
        ("client.pem", client_pair.cert),
        ("client.key", client_pair.key),
    ):
        (tmp_path / name).write_bytes(source.read_bytes())
    file = tmp_path / "config.toml"
    names = 'ca = "ca.pem"\ncert = "client.pem"\nkey = "client.key"\n'
    file.write_text(f'url = "{gateway.url}"\n{names}')
    return file


def test_a_client_by_its_file(file: Path, gateway: Gateway) -> None:
    gateway.script(WHOAMI)
    with Client.from_config(file) as client:
        assert client.whoami().name == "client_001"


async def test_an_asynchronous_one(file: Path, gateway: Gateway) -> None:
    gateway.script(WHOAMI)
    async with AsyncClient.from_config(file) as client:
        assert (await client.whoami()).name == "client_001"


def test_the_users_own_is_found(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = file.parent / "gatepost"
    folder.mkdir()
    file.rename(folder / "config.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(file.parent))
    found = read_configuration()
    assert found.cert == str(folder / "client.pem")
    assert found.proxy is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "There is no .*gatepost enrol URL"),
        ('url = "https://x:1"', "lacks ca, cert, key"),
        ("url =", "is not TOML"),
        ("url = 5", "'url' is not one of url, ca, cert, key and proxy, each a text"),
        ('name = "x"', "'name' is not one of"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "config.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(NotSetUp, match=words):
        Client.from_config(file)


def test_a_file_names_its_proxy(file: Path) -> None:
    file.write_text(f'{file.read_text()}proxy = "http://p:3128"\n')
    found = read_configuration(file)
    assert isinstance(found, Configuration)
    assert found.proxy == "http://p:3128"


def test_a_proxy_passes_on_what_it_cannot_read(either: Either, gateway: Gateway) -> None:
    with Connecting().running() as proxy:
        receipt = either(lambda client: client.send(NUMBER, BODY), proxy=proxy.url)
    assert receipt.message_id
    assert proxy.heads[0].startswith(f"CONNECT {gateway.url.removeprefix('https://')} ".encode())
    assert proxy.seen
    assert BODY.encode() not in proxy.seen


def test_a_proxy_gets_its_password_in_a_header_of_its_own(either: Either, gateway: Gateway) -> None:
    with Connecting().running() as proxy:
        url = proxy.url.replace("http://", "http://me:secret@")
        either(lambda client: client.send(NUMBER, BODY), proxy=url)
    assert b"proxy-authorization: basic bwu6c2vjcmv0" in proxy.heads[0].lower()
    assert "Proxy-Authorization" not in gateway.asked[0].headers


def test_a_proxy_that_refuses_has_sent_nothing(either: Either, gateway: Gateway) -> None:
    refusing = Connecting(b"403 Forbidden")
    with refusing.running(), pytest.raises(Unavailable, match="the proxy refuses"):
        either(lambda client: client.send(NUMBER, BODY), proxy=refusing.url, retry_for=0)
    assert gateway.asked == []


@pytest.mark.parametrize(
    "url", ["p:3128", "socks5://p:1", "http://", "http://p:1/path", "http://p:x"]
)
def test_what_is_no_proxy_is_said(either: Either, url: str) -> None:
    with pytest.raises(ValueError, match="proxy is http://host:port"):
        either(lambda client: client.whoami(), proxy=url)


def test_a_password_is_not_shown() -> None:
    assert without_password("http://me:secret@p:3128") == "http://…@p:3128"
    assert without_password("http://p:3128") == "http://p:3128"
    assert os.sep in without_password("/home/me@there/ca.pem")
