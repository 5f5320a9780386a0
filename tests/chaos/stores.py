"""Redis and MariaDB of a run: on the run's disk, at their node's address, each as a user of its own
where root allows that, with the settings of the tree that is tested.
"""

import os
import pwd
from collections.abc import Sequence
from pathlib import Path

import pymysql
from pymysql.cursors import DictCursor

from infra.dev.child import Owner
from infra.dev.engines import Engines, MariaServer, RedisServer
from infra.dev.engines.accounts import fill
from infra.dev.private import write_private
from tests.chaos.network import Node

REDIS_USER = "daemon"
ANSWER_SECONDS = 60
"""For the harness's own statements: longer than a server is frozen whose lock they may wait for."""
_EVERYWHERE = """\
CREATE USER IF NOT EXISTS root@'%' IDENTIFIED BY '@root@';
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
"""


class ChaosRedis(RedisServer):
    """With DEBUG, which the real one hasn't got: a fault uses it."""

    def __init__(self, engines: Engines, folder: Path, log: Path, node: Node, tree: Path) -> None:
        self.host = node.address
        super().__init__(engines, folder, log=log)
        self.owner = _user(REDIS_USER) if node.prefix and _can_reach(folder) else None
        program = str(engines.redis.program)
        options = ["--port", str(self.port), "--dir", ".", "--aclfile", "users.acl"]
        options += ["--bind", node.address, "--enable-debug-command", "yes"]
        options += [] if node.prefix == () else ["--protected-mode", "no"]
        command = [program, str(tree / "infra" / "redis.conf"), *options]
        self.child.command = [*_as(node, self.owner), *command]
        if self.owner is not None:
            for file in (folder, folder / "users.acl"):
                os.chown(file, *self.owner)


class ChaosMaria(MariaServer):
    """Whoever comes from another node is known by its password."""

    def __init__(self, engines: Engines, folder: Path, log: Path, node: Node, tree: Path) -> None:
        self.host = node.address
        super().__init__(engines, folder, log=log)
        self.owner = self.child.owner
        self.child.owner = None
        command = [*self.child.command, f"--bind-address={node.address}"]
        command[1] = f"--defaults-file={tree / 'infra' / 'my.cnf'}"
        self.child.command = [*_as(node, self.owner), *command]
        if node.prefix:
            self._let_in_from_everywhere()

    def connect(self) -> "pymysql.Connection[DictCursor]":
        """As root, straight: for the harness's own questions."""
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user="root",
            password=self._passwords["root"],
            database="gatepost",
            autocommit=True,
            connect_timeout=5,
            read_timeout=ANSWER_SECONDS,
            write_timeout=ANSWER_SECONDS,
            cursorclass=DictCursor,
        )

    def _let_in_from_everywhere(self) -> None:
        file = self.folder / "accounts.sql"
        known = file.read_text().replace("@127.0.0.1", "@'%'")
        write_private(file, fill(_EVERYWHERE, self._passwords) + known)
        if self.owner is not None:
            os.chown(file, *self.owner)


def _as(node: Node, owner: Owner | None) -> Sequence[str]:
    """Root goes into the node, and then becomes whom the server is to be."""
    if owner is None or not node.prefix:
        return node.prefix
    return [*node.prefix, "--setuid", str(owner.uid), "--setgid", str(owner.gid)]


def _user(name: str) -> Owner:
    entry = pwd.getpwnam(name)
    return Owner(entry.pw_uid, entry.pw_gid)


def _can_reach(folder: Path) -> bool:
    """Whether others may pass through all that is above it."""
    return all(parent.stat().st_mode & 0o001 for parent in folder.parents)
