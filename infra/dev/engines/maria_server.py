"""Runs a MariaDB of ours: settings from infra/my.cnf, schemas and users from infra/accounts.sql.

It has no Unix socket: the path could be too long, and everybody comes by 127.0.0.1 with a password.
Where we are root it runs as somebody else, as mariadbd wants; see `choose_owner`.
"""

import os
import pwd
import shutil
from collections.abc import Sequence
from pathlib import Path

import pymysql

from infra.dev.child import Child, Owner, as_owner
from infra.dev.engines.accounts import fill, passwords
from infra.dev.engines.find import Engine, Engines
from infra.dev.engines.server import Server
from infra.dev.paths import ROOT
from infra.dev.private import write_private
from infra.dev.steps import Failure, run

CONFIGURATION = ROOT / "infra" / "my.cnf"
ACCOUNTS = ROOT / "infra" / "accounts.sql"
# What the distribution's mariadb-install-db runs, without its help tables and its own schema.
SYSTEM_TABLES = ("*_system_tables.sql", "*_performance_tables.sql", "*_system_tables_data.sql")
ROOT_TOO = "ALTER USER root@127.0.0.1 IDENTIFIED BY '@root@';\n"
_BEFORE = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
_AFTER = "\nDELETE FROM global_priv WHERE User <> 'mariadb.sys' AND Host <> '127.0.0.1';\n"


class MariaServer(Server):
    """A MariaDB of ours; `options` are the server's own, and override those of infra/my.cnf."""

    def __init__(
        self,
        engines: Engines,
        folder: Path,
        port: int | None = None,
        log: Path | None = None,
        options: Sequence[str] = (),
    ) -> None:
        super().__init__(folder, port)
        self._engine = engines.mariadb
        self._base = self._engine.program.parents[1]
        self._share = _find_share(self._base)
        template = ACCOUNTS.read_text() + ROOT_TOO
        self._passwords = passwords(folder / "passwords.json", template)
        self._owner = choose_owner(self._engine, folder)
        write_private(folder / "accounts.sql", fill(template, self._passwords))
        if self._owner is not None:
            os.chown(folder / "accounts.sql", *self._owner)
        self.child = Child(
            "mariadb",
            self._command(
                "data", f"--port={self.port}", f"--init-file={folder}/accounts.sql", *options
            ),
            log=log or folder / "mariadb.log",
            folder=folder,
            environment=self._engine.environment,
            owner=self._owner,
            lock=folder / "lock",
        )

    def url(self, user: str = "gatepost_main", schema: str = "gatepost") -> str:
        return f"mysql+pymysql://{user}:{self._passwords[user]}@{self.host}:{self.port}/{schema}"

    def launch(self) -> None:
        if not (self.folder / "data").exists():
            self._make_system_tables()
        super().launch()

    def silence(self) -> str | None:
        try:
            pymysql.connect(
                host=self.host,
                port=self.port,
                user="root",
                password=self._passwords["root"],
                connect_timeout=2,
            ).close()
        except pymysql.OperationalError as error:
            return str(error)
        return None

    def _command(self, data: str, *options: str) -> list[str]:
        folders = [f"--basedir={self._base}", f"--datadir={self.folder / data}", "--socket="]
        folders.append(f"--lc-messages-dir={self._share}")
        # A server that starts deletes the temporary tables of all that share this folder.
        folders.append(f"--tmpdir={self.folder}")
        if os.geteuid() == 0 and self._owner is None:
            folders.append("--user=root")
        return [str(self._engine.program), f"--defaults-file={CONFIGURATION}", *folders, *options]

    def _make_system_tables(self) -> None:
        """Make the data folder, in a draft first, so that it's there whole or not at all."""
        scripts = [next(self._share.glob(pattern)).read_text() for pattern in SYSTEM_TABLES]
        draft = self.folder / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        if self._owner is not None:
            os.chown(draft, *self._owner)
        run(
            "making the database's system tables",
            self._command("draft", "--bootstrap", "--log-warnings=0"),
            environment=self._engine.environment,
            input=_BEFORE + "".join(scripts) + _AFTER,
            **as_owner(self._owner),
        )
        draft.rename(self.folder / "data")


def _find_share(base: Path) -> Path:
    """Return the folder of the system tables' SQL: mysql's or mariadb's, as the release likes."""
    for script in base.glob(f"share/*/{SYSTEM_TABLES[0]}"):
        return script.parent
    raise Failure(f"The MariaDB below {base} lacks {SYSTEM_TABLES[0]}. Install mariadb-server.")


def choose_owner(engine: Engine, folder: Path) -> Owner | None:
    """Return the user that mariadbd runs as; None for ourselves.

    It doesn't want to be root. So root hands it to `nobody`, or to whoever has the data already; if
    `nobody` can't get at the folder (a checkout below /root, say), it has to be root after all.
    """
    if os.geteuid() != 0:
        return None
    data = folder / "data"
    if data.exists():
        status = data.stat()
        return Owner(status.st_uid, status.st_gid) if status.st_uid else None
    entry = pwd.getpwnam("nobody")
    nobody = Owner(entry.pw_uid, entry.pw_gid)
    script = 'test -w "$1" && test -r "$2" && exec "$0" --no-defaults --version'
    command = ["/bin/sh", "-c", script, str(engine.program), str(folder), str(CONFIGURATION)]
    try:
        os.chown(folder, *nobody)
        run("trying", command, environment=engine.environment, **as_owner(nobody))
    except (Failure, OSError):
        os.chown(folder, 0, 0)
        return None
    return nobody
