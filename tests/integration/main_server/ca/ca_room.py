"""A CA for tests: a folder, a ledger, and `gatepost` run on both as on the CA's own machine."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from sqlalchemy import Engine

from gatepost.cli.main import run
from gatepost.clock import from_ms, to_ms
from main_server.ca import repository
from main_server.ca.authority import utc_now
from main_server.ca.founding import init_authority
from main_server.store.database import transact
from main_server.store.tables import certificates, crls

PUBLIC_URL = "http://pki.example.com:8002"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> dict[str, Any]:
        (document,) = self.documents
        return document


@dataclass
class CaRoom:
    """Names in it are known to nobody else, so tests can share a ledger."""

    folder: Path
    engine: Engine
    database: str
    redis: str
    capsys: pytest.CaptureFixture[str]
    domain: str = field(default_factory=lambda: f"d{uuid4().hex[:10]}.example.com")

    def __post_init__(self) -> None:
        init_authority(self.ca, utc_now())
        transact(self.engine, lambda c: c.execute(crls.delete()))  # other tests' CAs
        foreign = certificates.delete().where(certificates.c.anchor.is_not(None))
        transact(self.engine, lambda c: c.execute(foreign))  # those are on each CA's lists
        tree = {
            "database": {"url": self.database},
            "redis": {"url": self.redis},
            "ca": {
                "folder": str(self.ca),
                "crl_file": str(self.crl_file),
                "public_url": PUBLIC_URL,
            },
        }
        self.config.write_text(yaml.safe_dump(tree))
        now = from_ms(to_ms(utc_now()))
        for domain in (self.domain, "gatepost"):
            transact(self.engine, lambda c, d=domain: repository.add_domain(c, d, None, now))  # type: ignore[misc]

    @property
    def ca(self) -> Path:
        return self.folder / "ca"

    @property
    def config(self) -> Path:
        return self.folder / "main_server.yaml"

    @property
    def crl_file(self) -> Path:
        return self.folder / "crl" / "revoked.pem"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def gatepost(self, *arguments: str) -> Said:
        self.capsys.readouterr()
        code = run([*arguments, "--config", str(self.config)])
        captured = self.capsys.readouterr()
        return Said(code, captured.out, captured.err)

    def done(self, *arguments: str) -> Said:
        said = self.gatepost(*arguments)
        assert said.code == 0, said.err
        return said

    def issue(self, name: str = "client_001", *more: str) -> dict[str, Any]:
        whole = f"{self.domain}:{name}"
        return self.done("cert", "issue", whole, "--out", str(self.out), "--json", *more).json

    def file(self, name: str, content: bytes) -> Path:
        file = self.folder / name
        file.write_bytes(content)
        return file
