"""Runs a Redis of ours: settings from infra/redis.conf, users from infra/users.acl."""

import hashlib
import re
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from infra.dev.child import Child
from infra.dev.engines.accounts import fill, passwords
from infra.dev.engines.find import Engines
from infra.dev.engines.server import LOADING, Server
from infra.dev.paths import ROOT
from infra.dev.private import write_private
from infra.dev.steps import run

CONFIGURATION = ROOT / "infra" / "redis.conf"
USERS = ROOT / "infra" / "users.acl"


class RedisServer(Server):
    def __init__(
        self, engines: Engines, folder: Path, port: int | None = None, log: Path | None = None
    ) -> None:
        super().__init__(folder, port)
        template = re.sub(r"^#.*\n", "", USERS.read_text(), flags=re.MULTILINE)
        self._passwords = passwords(folder / "passwords.json", template)
        hashes = {u: hashlib.sha256(p.encode()).hexdigest() for u, p in self._passwords.items()}
        write_private(folder / "users.acl", fill(template, hashes))
        place = ["--port", str(self.port), "--dir", ".", "--aclfile", "users.acl"]
        self.child = Child(
            "redis",
            [str(engines.redis.program), str(CONFIGURATION), *place],
            log=log or folder / "redis.log",
            folder=folder,
            environment=engines.redis.environment,
            lock=folder / "lock",
            first=self._mend,
        )
        self._program = engines.redis.program
        self._client = redis.Redis.from_url(
            self.url(), socket_timeout=1, retry=Retry(NoBackoff(), 0)
        )

    def url(self, user: str = "operator") -> str:
        return f"redis://{user}:{self._passwords[user]}@{self.host}:{self.port}/0"

    def _mend(self) -> None:
        """Take away what a crash has left of an unfinished transaction at the AOF's end.

        Redis's own way would leave its beginning there: see docs/decisions/0020.
        """
        manifest = Path("appendonlydir", "appendonly.aof.manifest")
        if not (self.folder / manifest).exists():
            return
        # The checker is the server itself, called by another name.
        name = self._program.name.replace("server", "check-aof")
        run(
            "mending the append-only file",
            [name, "--fix", str(manifest)],
            environment=self.child.environment,
            folder=self.folder,
            executable=str(self._program),
            input="y\n",
        )

    def silence(self) -> str | None:
        try:
            with self._client as client:
                client.ping()
        except redis.BusyLoadingError:
            return LOADING
        except (redis.ConnectionError, redis.TimeoutError) as error:
            return str(error)
        return None
