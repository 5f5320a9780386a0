"""`gatepost proxy drain` signals a proxy and nobody else, whoever answers at the port."""

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
from proxy.draining import drain


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """The signals that this process was sent: without a handler the first would end it."""
    numbers: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        numbers.append(number)

    before = signal.signal(DRAIN, hear)
    yield numbers
    signal.signal(DRAIN, before)


@pytest.fixture
def impostor() -> Iterator[HTTPServer]:
    """Says that it is ready, and that its process is ours."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"ready": true, "pid": %d, "checks": {}}' % os.getpid()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def configuration(folder: Path, port: int) -> Path:
    file = folder / "proxy.yaml"
    file.write_text(
        f"ops: {{port: {port}}}\n"
        "tls: {cert_file: c, key_file: k, ca_file: a}\n"
        "main_server: {url: 'https://127.0.0.1:1', cert_file: c, key_file: k, ca_file: a}\n"
        "cache: {folder: kept}\n"
    )
    return file


def test_what_is_no_proxy_is_not_signalled(
    tmp_path: Path, impostor: HTTPServer, heard: list[int]
) -> None:
    file = configuration(tmp_path, impostor.server_port)
    with pytest.raises(Failure, match="is not a proxy's"):
        drain(file, 1, wait=False, json=True)
    assert heard == []


def test_where_none_answers_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="No proxy answers") as failed:
        drain(configuration(tmp_path, 1), 1, wait=False, json=True)
    assert failed.value.kind == "unavailable"
