"""A primary with the log of infra/replicated.cnf, and a real replica of it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, text

from infra.dev.engines import Engines, MariaServer
from infra.dev.paths import ROOT

OF_A_PRIMARY = [
    f"--{line.replace(' = ', '=')}"
    for line in (ROOT / "infra" / "replicated.cnf").read_text().splitlines()
    if re.match(r"[a-z]", line)
]
OF_A_REPLICA = ["--server-id=2", "--read-only", "--relay-log=relay"]
PATIENCE = 30.0


@dataclass
class Pair:
    primary: MariaServer
    replica: MariaServer

    def follow(self) -> None:
        """From here on; what there is so far, both have made for themselves."""
        with root_of(self.primary).connect() as connection:
            for statement in (
                "CREATE USER replicator@127.0.0.1 IDENTIFIED BY 'for a test alone'",
                "GRANT REPLICATION SLAVE ON *.* TO replicator@127.0.0.1",
            ):
                connection.execute(text(statement))
            position = connection.execute(text("SELECT @@gtid_binlog_pos")).scalar_one()
        with root_of(self.replica).connect() as connection:
            connection.execute(text("SET GLOBAL gtid_slave_pos = :pos"), {"pos": position})
            connection.execute(
                text(
                    f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={self.primary.port},"
                    " MASTER_USER='replicator', MASTER_PASSWORD='for a test alone',"
                    " MASTER_USE_GTID=slave_pos"
                )
            )
            connection.execute(text("START SLAVE"))

    def ask_replica(self, statement: str) -> dict[str, Any]:
        with root_of(self.replica).connect() as connection:
            result = connection.execute(text(statement))
            return dict(result.mappings().one()) if result.returns_rows else {}

    def catch_up(self) -> None:
        with root_of(self.primary).connect() as connection:
            position = connection.execute(text("SELECT @@gtid_binlog_pos")).scalar_one()
        wait = f"SELECT MASTER_GTID_WAIT('{position}', {PATIENCE}) AS code"
        assert self.ask_replica(wait) == {"code": 0}, self.ask_replica("SHOW SLAVE STATUS")


def root_of(server: MariaServer) -> Engine:
    return create_engine(server.url("root", "mysql"), isolation_level="AUTOCOMMIT")


@contextmanager
def replicated(engines: Engines, folder: Path) -> Iterator[Pair]:
    """Both are empty, but for their accounts; from here on one follows the other."""
    with (
        MariaServer(engines, folder / "primary", options=OF_A_PRIMARY) as primary,
        MariaServer(engines, folder / "replica", options=OF_A_REPLICA) as replica,
    ):
        pair = Pair(primary, replica)
        pair.follow()
        yield pair
