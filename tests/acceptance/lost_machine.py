"""A machine that is backed up, lost, and brought back: what an operator does, by docs/backup.md.

What is kept elsewhere, backups, passphrase and master key, is in a folder that isn't lost; nor are
Redis and the proxy, which are on other machines.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import yaml
from cryptography import x509
from sqlalchemy import make_url

from gatepost.trust.revoked import key_id
from gatepost.trust.signed_list import SignedList, read_list
from gatepost.wire.content import decode_content
from infra.dev.engines import MariaServer, find_engines
from infra.dev.place import Place
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.keys.service import open_keyring
from tests.acceptance.site import Site, accepted, post, state_of

GATEPOST = str(Path(sys.executable).with_name("gatepost"))
LONGEST_SECONDS = 900
LOST = ("mariadb", "ca", "crl", "config")
Url = Callable[[str], str]
"""How a user reaches the database."""


class Operator:
    """Who follows the document; what is kept where the machine isn't is in a folder of theirs."""

    def __init__(self, place: Place, folder: Path) -> None:
        self._place, self._folder = place, folder
        self.keys, self._main = folder / "keys.backup", folder / "main_server.yaml"
        folder.mkdir(mode=0o700)
        passphrase = folder / "passphrase"
        passphrase.write_text("a passphrase of the backups alone")
        passphrase.chmod(0o600)
        tools = find_engines().mariadb_dump
        self._environment = os.environ | tools.environment
        path = f"{tools.program.parent}{os.pathsep}{os.environ['PATH']}"
        self._environment["PATH"] = path

    def configure(self, url: Url) -> None:
        self.configure_main(url)
        self.configure_backup(url)

    def configure_main(self, url: Url) -> None:
        tree = yaml.safe_load((self._place.config / "main_server.yaml").read_text())
        tree["database"]["url"] = url("gatepost_main")
        tree["keys"]["backup_file"] = str(self.keys)
        self._main.write_text(yaml.safe_dump(tree))

    def configure_backup(self, url: Url) -> None:
        tree = {
            "database": {"url": url("gatepost_backup")},
            "restore": {"url": url("gatepost_migrate"), "keys_schema": "gatepost_keys"},
            "drill": {"url": f"{url('gatepost_drill')}_drill"},
            "store": {
                "folder": str(self._folder / "backups"),
                "passphrase_file": str(self._folder / "passphrase"),
                "files": [str(self._place.folder / "ca"), str(self._place.config)],
            },
        }
        (self._folder / "backup.yaml").write_text(yaml.safe_dump(tree))

    def __call__(self, *words: str) -> str:
        return self._run(*words, "--config", str(self._main))

    def backup(self, *words: str) -> str:
        return self._run("backup", *words, "--config", str(self._folder / "backup.yaml"))

    def grant(self) -> None:
        account = "gatepost_backup@127.0.0.1"
        file = self._place.config / "migration.yaml"
        self._run("db", "grant", "backup", account, "--config", str(file))

    def _run(self, *words: str) -> str:
        ran = subprocess.run(
            [GATEPOST, *words],
            check=False,
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=LONGEST_SECONDS,
        )
        assert ran.returncode == 0, f"{words}: {ran.stderr}"
        return ran.stdout


def lose(site: Site, undelivered: int) -> list[str]:
    """The ledger's machine. What was accepted last, nobody has delivered: these messages are in
    Redis, and in no backup."""
    keeper, place = site.stack.place.supervisor(), site.stack.place
    assert keeper is not None
    with site.without("worker"), site.calling() as client:
        waiting = [accepted(post(client)) for _ in range(undelivered)]
        assert {state_of(client, one) for one in waiting} == {"queued"}
        for name in ("main_server", "mariadb"):
            os.kill(site.pids(name)[0], signal.SIGKILL)
        os.kill(keeper, signal.SIGTERM)  # it hears of it before it can start anything again
    site.stack.stop()
    site.engine.dispose()
    for name in LOST:
        shutil.rmtree(place.folder / name)
    return waiting


def restore(place: Place, operator: Operator, folder: Path) -> dict[str, Any]:
    """By docs/backup.md, onto an empty database. What the command says of itself."""
    with MariaServer(find_engines(), place.folder / "mariadb") as server:
        operator.configure_backup(server.url)
        said = operator.backup("restore", "--json", "--files-to", str(folder / "restored"))
        inside = folder / "restored" / str(place.folder).lstrip("/")
        for name in ("ca", "config"):
            shutil.copytree(inside / name, place.folder / name)
        (place.folder / "crl").mkdir()
        newest = place.folder / "proxy" / "revocations.msgpack"
        shutil.copy(newest, place.folder / "crl" / "revoked.pem")
        operator.configure_main(server.url)
        operator("keys", "restore", str(operator.keys))
    return json.loads(said)  # type: ignore[no-any-return]


def crl(site: Site) -> SignedList:
    """The newest, as the world can have it."""
    der = httpx.get(f"{site.url('pki')}/crl", trust_env=False).content
    pins = (site.stack.place.folder / "ca" / "intermediate.pem").read_bytes()
    issuer = x509.load_pem_x509_certificate(pins)
    read = read_list(der, {key_id(issuer): issuer})
    assert read
    return read[1]


def body_of(site: Site, message_id: str) -> str:
    row = site.row(message_id)
    assert row
    assert row["encrypted_body"]
    whose = UUID(message_id), row["client_id"], row["domain"]
    ring = open_keyring(site.engine, masters(site.stack.place))
    content = ring.open_row(site.engine, *whose, row["key_id"], row["encrypted_body"])
    return decode_content(content).message_body


def masters(place: Place) -> MasterKeys:
    return MasterKeys(partial(read_master_keys, place.secrets / "master.key"))


def url_of(site: Site, user: str) -> str:
    passwords = json.loads((site.stack.place.folder / "mariadb" / "passwords.json").read_text())
    url = make_url(site.status["database"]).set(username=user, password=passwords[user])
    return url.render_as_string(hide_password=False)
