"""The running stack as these tests see it: who calls, what is answered, what the logs say."""

import json
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from cryptography.hazmat.primitives.hashes import SHA256
from pydantic import SecretStr
from sqlalchemy import Engine, text

from gatepost.clock import from_ms, to_ms
from gatepost.config.settings import load
from gatepost.trust.identity import Identity, Role
from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.services import not_ready
from infra.dev.stack import Stack
from main_server.ca import repository
from main_server.ca.authority import Order, Usage, load_authority, utc_now
from main_server.ca.service import issue
from main_server.settings import Database, DatabaseOnly
from main_server.store.database import create_ledger_engine, transact
from main_server.tenants.clients import repository as clients
from tests.factories import BODY, HOSTS, NUMBER, Pair

T = TypeVar("T")
MESSAGES = "/api/v1/messages"
PATIENCE = 20.0
MANY = 16
"""So many connections come to each of two processes, all but certainly."""


def eventually(look: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Looks again and again until there is something to be seen."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.01)
    return found


class Site:
    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    @property
    def status(self) -> dict[str, Any]:
        return self.stack.status()

    def url(self, service: str) -> str:
        return str(self.status[service])

    def pids(self, service: str) -> list[int]:
        """Its processes; the first keeps the others."""
        found: list[int] = self.status["pids"][service]
        return found

    def files(self, name: str) -> TlsFiles:
        pki = self.stack.place.pki
        return TlsFiles(pki / f"{name}.pem", pki / f"{name}.key", pki / "ca.pem")

    def calling(
        self, who: str | TlsFiles = "client_001", service: str = "proxy", **options: Any
    ) -> httpx.Client:
        """A client of that service, with that certificate."""
        files = self.files(who) if isinstance(who, str) else who
        whole = {"timeout": 20, "trust_env": False} | options
        return httpx.Client(base_url=self.url(service), verify=client_context(files), **whole)

    def wait_known(self, mine: TlsFiles) -> None:
        """Until the proxy lets in who has this certificate, whichever of its processes is asked."""

        def known() -> bool:
            with self.calling(mine) as client:
                return client.get("/api/v1/whoami").status_code in (200, 429)

        eventually(lambda: all(known() for _ in range(MANY)), "the edge knows it")

    @cached_property
    def engine(self) -> Engine:
        """The ledger, as the user who may do everything in it."""
        return create_ledger_engine(Database(url=SecretStr(self.status["database"])))

    def row(self, message_id: str) -> dict[str, Any] | None:
        query = text("SELECT * FROM messages WHERE message_id = UNHEX(REPLACE(:id, '-', ''))")
        found = transact(
            self.engine, lambda c: c.execute(query, {"id": message_id}).mappings().all()
        )
        assert len(found) < 2
        return dict(found[0]) if found else None

    def issue(
        self,
        holder: Identity,
        usage: Usage = Usage.CLIENT,
        *,
        rate: int = 1000,
        burst: int = 10_000,
        days: int = 1,
    ) -> Pair:
        """A certificate that the ledger knows; a client with its domain and its limits, too."""
        config = load(DatabaseOnly, self.stack.place.config / "main_server.yaml")
        authority = load_authority(self.stack.place.folder / "ca")
        now = from_ms(to_ms(utc_now()))
        if holder.role is Role.CLIENT:
            transact(self.engine, lambda c: repository.add_domain(c, holder.domain, None, now))
            transact(self.engine, lambda c: clients.add(c, holder, rate, burst, now))
        order = Order(holder, usage, timedelta(days=days), HOSTS)
        issued = issue(self.engine, authority, order, utc_now())
        assert config.database.keys_schema
        name = f"test-{issued.certificate.serial_number:x}"
        pki = self.stack.place.pki
        pair = Pair(pki / f"{name}.pem", pki / f"{name}.key", pki / "ca.pem")
        pair.cert.write_bytes(issued.chain_pem)
        pair.key.write_bytes(issued.key_pem)
        self._wait_until_known(holder, pair, issued.certificate.fingerprint(SHA256()).hex())
        return pair

    def _wait_until_known(self, holder: Identity, pair: Pair, fingerprint: str) -> None:
        if holder.role is not Role.CLIENT:
            return

        def is_known() -> bool:
            with self.calling(pair.files) as client:
                answer = client.get("/api/v1/whoami")
                if answer.status_code == 429:  # it is known, and asks more often than it may
                    return True
                known = answer.status_code == 200
                return known and answer.json()["certificate"]["fingerprint"] == fingerprint

        # Each process learns the bundle by itself; as many agreeing answers as would be chance.
        eventually(lambda: all(is_known() for _ in range(16)), "the edge knows it")

    def events(self, service: str, name: str, **fields: Any) -> list[dict[str, Any]]:
        """What the service has logged under that name, with these fields."""
        lines = self.stack.place.log(service).read_text(errors="replace").splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{") and name in line]
        wanted = {"event": name} | fields
        return [one for one in found if wanted.items() <= one.items()]

    def missing(self) -> dict[str, str]:
        """What each service misses to be ready."""
        ports = {n: urlsplit(url).port or 0 for n, (url,) in self.status["metrics"].items()}
        found = {name: not_ready(port) for name, port in ports.items()}
        return {name: why for name, why in found.items() if why is not None}

    def wait_ready(self) -> None:
        try:
            eventually(lambda: not self.missing(), "ready", 30)
        except AssertionError:
            raise AssertionError(f"not ready: {self.missing()}") from None

    def wait_delivered(self, *message_ids: str, seconds: float = PATIENCE) -> None:
        """Until the ledger says so of all of them."""
        eventually(lambda: not self.undelivered(message_ids), "delivered", seconds)

    def undelivered(self, message_ids: Sequence[str]) -> list[str]:
        query = text("SELECT LOWER(HEX(message_id)) FROM messages WHERE status = 'delivered'")
        found = set(transact(self.engine, lambda c: c.execute(query).scalars().all()))
        return [one for one in message_ids if one.replace("-", "") not in found]

    @contextmanager
    def without(self, *services: str) -> Iterator[None]:
        """These are ended, and nobody starts them again until this is over."""
        keeper = self.stack.place.supervisor()
        assert keeper is not None
        leaders = {name: self.pids(name)[0] for name in services}
        os.kill(keeper, signal.SIGSTOP)
        try:
            for pid in leaders.values():
                os.kill(pid, signal.SIGTERM)
            for pid in leaders.values():
                eventually(lambda pid=pid: has_ended(pid), "the end of it")  # type: ignore[misc]
            yield
        finally:
            os.kill(keeper, signal.SIGCONT)

    def back(self, service: str, before: int) -> None:
        """Until another process runs in its place."""
        eventually(lambda: self.pids(service)[:1] not in ([], [before]), f"{service} runs again")


def has_ended(pid: int) -> bool:
    """Whether it is gone, or waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except OSError:
        return True


def submission(**given: Any) -> dict[str, Any]:
    return {"sender_number": NUMBER, "message_body": BODY} | given


def post(client: httpx.Client, **options: Any) -> httpx.Response:
    return client.post(MESSAGES, **({"json": submission()} | options))


def accepted(answer: httpx.Response) -> str:
    """The id of a message that was accepted."""
    assert answer.status_code == 202, answer.text
    message_id: str = answer.json()["message_id"]
    return message_id


def state_of(client: httpx.Client, message_id: str) -> str:
    answer = client.get(f"{MESSAGES}/{message_id}")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["status"])


class Traffic:
    """Senders that go on whatever happens, and remember what they were promised."""

    def __init__(self, site: Site, senders: int = 4) -> None:
        self._site = site
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(senders)]
        self.promised: list[str] = []
        self.strange: list[str] = []

    def __enter__(self) -> "Traffic":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def flows(self, more: int = 20) -> None:
        """Until so many more have been promised."""
        number = len(self.promised)
        eventually(lambda: len(self.promised) >= number + more, "traffic")

    def _send(self) -> None:
        while not self._stop.is_set():
            with suppress(httpx.HTTPError), self._site.calling(timeout=5) as client:
                while not self._stop.is_set():
                    self._note(post(client))

    def _note(self, answer: httpx.Response) -> None:
        if answer.status_code == 202:
            self.promised.append(answer.json()["message_id"])
        elif answer.status_code not in (429, 503):
            self.strange.append(answer.text)


class Wire:
    """A TLS connection with nothing on top: who uses it says every byte."""

    def __init__(
        self,
        url: str,
        context: ssl.SSLContext,
        plain: socket.socket | None = None,
        timeout: float = 20,
    ) -> None:
        """`plain` is a connection that is there already."""
        parts = urlsplit(url)
        plain = plain or socket.create_connection((parts.hostname, parts.port), timeout)
        try:
            self.socket = context.wrap_socket(plain, server_hostname=parts.hostname)
        except BaseException:
            plain.close()
            raise

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """One response; status 0 if the other side has closed without one."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self._receive()
            if not piece:
                return 0, {}, data
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        while len(body) < length:
            body += self._receive()
        return int(first.split()[1]), headers, body[:length]

    def _receive(self) -> bytes:
        try:
            return self.socket.recv(65536)
        except (ConnectionError, ssl.SSLError):
            return b""
