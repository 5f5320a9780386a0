"""A stack with many clients, and the hands that revoke, and that break what tells of it."""

import json
import os
import signal
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import redis
from pydantic import SecretStr

from gatepost.clock import from_ms, to_ms
from gatepost.trust.identity import Identity, Role
from gatepost.trust.revocation import Reason
from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.services import not_ready
from infra.dev.stack import Stack
from main_server.ca.authority import Order, Usage, load_authority, utc_now
from main_server.ca.revocation import revoke
from main_server.ca.revoked.repository import Selection
from main_server.ca.service import issue
from main_server.settings import Database
from main_server.store.database import create_ledger_engine, transact
from main_server.tenants.clients import repository as clients

DOMAIN, OTHERS = "example.com", "revoked.example"
RATE, BURST = 1_000_000, 10_000_000
REVOKE_SECONDS = 20


@dataclass(frozen=True)
class Victim:
    serial: str
    context: ssl.SSLContext


class Bed:
    def __init__(self, stack: Stack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        status = stack.status()
        self.port = urlsplit(status["proxy"]).port or 0
        self._engine = create_ledger_engine(Database(url=SecretStr(status["database"])))
        self._redis = str(status["redis"])
        pki = stack.place.pki
        self._admin = client_context(
            TlsFiles(pki / "admin.pem", pki / "admin.key", pki / "ca.pem"), Role.MAIN
        )
        self._revoking = f"{status['main_server']}/admin/certificates/revoke"
        self._authority = load_authority(stack.place.folder / "ca")

    def close(self) -> None:
        self._engine.dispose()

    def victim(self, number: int) -> Victim:
        """A client of its own, whose certificate may be revoked."""
        holder = Identity(DOMAIN, Role.CLIENT, f"bench-{number}")
        now = from_ms(to_ms(utc_now()))
        transact(self._engine, lambda c: clients.add(c, holder, RATE, BURST, now))
        return self._issue(holder)

    def revoke_many(self, number: int) -> None:
        """So that the list has some length. They are nobody's: only their rows matter."""
        for n in range(number):
            self._issue(Identity(OTHERS, Role.CLIENT, f"gone-{n}"))
        chosen = Selection(domain=OTHERS)
        revoke(self._engine, [self._authority], chosen, Reason.SUPERSEDED, utc_now())

    def revoke(self, victim: Victim) -> float:
        """As an administrator does; the time at which the main server has answered."""
        order = {"serial": victim.serial, "reason": Reason.KEY_COMPROMISE}
        with httpx.Client(verify=self._admin, timeout=REVOKE_SECONDS, trust_env=False) as admin:
            answer = admin.post(self._revoking, json=order)
        answered = time.monotonic()
        if answer.status_code != 200 or answer.json()["serials"] != [victim.serial]:
            raise AssertionError(f"it was not revoked: {answer.text}")
        return answered

    def cut_by(self, since: int) -> dict[int, int]:
        """How many connections each process says to have cut, in the log behind that place."""
        found: dict[int, int] = {}
        with self._log.open("rb") as log:
            log.seek(since)
            for line in log:
                if b'"connections.cut"' in line:
                    event = json.loads(line)
                    found[event["pid"]] = found.get(event["pid"], 0) + event["connections"]
        return found

    def log_size(self) -> int:
        return self._log.stat().st_size

    @property
    def _log(self) -> Path:
        return self._stack.place.log("proxy")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody starts again what ends meanwhile; afterwards all runs again."""
        keeper = self._stack.place.supervisor()
        assert keeper is not None
        os.kill(keeper, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(keeper, signal.SIGCONT)
            self._wait_ready()

    def kill(self, service: str) -> None:
        """All processes of it, at once."""
        os.killpg(self._stack.status()["pids"][service][0], signal.SIGKILL)

    def _issue(self, holder: Identity) -> Victim:
        order = Order(holder, Usage.CLIENT, timedelta(days=1))
        issued = issue(self._engine, self._authority, order, utc_now())
        pem, key = self._folder / "victim.pem", self._folder / "victim.key"
        pem.write_bytes(issued.chain_pem)
        key.write_bytes(issued.key_pem)
        files = TlsFiles(pem, key, self._stack.place.pki / "ca.pem")
        return Victim(f"{issued.certificate.serial_number:032x}", client_context(files))

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + 60
        while missing := self._missing():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not ready: {missing}")
            time.sleep(0.05)

    def _missing(self) -> list[str]:
        with suppress(redis.RedisError), redis.Redis.from_url(self._redis) as one:
            one.ping()
            urls = {name: url for name, (url,) in self._stack.status()["metrics"].items()}
            ports = {name: urlsplit(url).port or 0 for name, url in urls.items()}
            return [name for name, port in ports.items() if not_ready(port) is not None]
        return ["redis"]
