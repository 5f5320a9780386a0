"""`gatepost proxy drain` signals a proxy and nobody else, whoever answers at the port; and what it
says of one that doesn't come so far is so."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import FrameType

import pytest

from gatepost.cli.failure import Failure
from gatepost.service.forking import DRAIN
from proxy import draining
from proxy.draining import drain

MORE = "draining: takes posts for 585 s more"


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """The signals that this process was sent: without a handler the first would end it."""
    numbers: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        numbers.append(number)

    before = signal.signal(DRAIN, hear)
    yield numbers
    signal.signal(DRAIN, before)


class Port(HTTPServer):
    """Says that its process is ours: of the drain what it is given, one after the other, the last
    of them again and again."""

    says: list[str | None]


@pytest.fixture
def port() -> Iterator[Port]:
    class Answer(BaseHTTPRequestHandler):
        server: Port

        def do_GET(self) -> None:
            says = self.server.says
            words = says.pop(0) if len(says) > 1 else says[0]
            checks = {"drain": {"ok": words is None, "detail": words}}
            body = json.dumps({"ready": True, "pid": os.getpid(), "checks": checks}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = Port(("127.0.0.1", 0), Answer)
    server.says = [None]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch, heard: list[int]) -> list[int]:
    """As in the unit's ExecStop, whose systemd names the process that it stops; in a hurry."""
    monkeypatch.setenv("MAINPID", str(os.getpid()))
    monkeypatch.setattr(draining, "HEARD_SECONDS", 0.3)
    return heard


def configuration(folder: Path, port: int) -> Path:
    file = folder / "proxy.yaml"
    file.write_text(
        f"ops: {{port: {port}}}\n"
        "tls: {cert_file: c, key_file: k, ca_file: a}\n"
        "main_server: {url: 'https://127.0.0.1:1', cert_file: c, key_file: k, ca_file: a}\n"
        "cache: {folder: kept}\n"
        "draining: {grace_seconds: 0}\n"
    )
    return file


def test_what_is_no_proxy_is_not_signalled(tmp_path: Path, port: Port, heard: list[int]) -> None:
    file = configuration(tmp_path, port.server_port)
    with pytest.raises(Failure, match="is not a proxy's"):
        drain(file, 1, wait=False, json=True)
    assert heard == []


def test_systemd_names_another_than_the_port_does(
    tmp_path: Path, port: Port, heard: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAINPID", str(os.getppid()))
    with pytest.raises(Failure, match="is not a proxy's"):
        drain(configuration(tmp_path, port.server_port), 1, wait=False, json=True)
    assert heard == []


def test_what_systemd_names_needs_not_be_seen(
    tmp_path: Path, port: Port, stopping: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    port.says = [None, MORE, MORE, "drained"]
    drain(configuration(tmp_path, port.server_port), 1, wait=True, json=True)
    assert stopping == [DRAIN]
    assert json.loads(capsys.readouterr().out)["says"] == "drained"


@pytest.mark.parametrize(
    ("says", "kind", "words"),
    [
        ([None], "still-waiting", "was told, and does not do it"),
        ([None, MORE], "still-waiting", MORE),
        ([None, MORE, MORE, None], "unavailable", "takes posts again"),
    ],
)
def test_it_says_how_far_it_came(
    tmp_path: Path,
    port: Port,
    stopping: list[int],
    says: list[str | None],
    kind: str,
    words: str,
) -> None:
    port.says = says
    with pytest.raises(Failure, match=words) as failed:
        drain(configuration(tmp_path, port.server_port), 1, wait=True, json=True)
    assert (failed.value.kind, stopping) == (kind, [DRAIN])


def test_where_none_answers_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="No proxy answers") as failed:
        drain(configuration(tmp_path, 1), 1, wait=False, json=True)
    assert failed.value.kind == "unavailable"
