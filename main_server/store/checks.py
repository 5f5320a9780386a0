"""Checks of the stores, before the main server serves: that they keep their part of I1.

In production it does not serve as long as a store that answers is set up to lose or to leak what is
given to it; in development it says so once. A store that is silent is asked again later. What was
in order once and has changed is an error in the log and in /readyz: by then the ledger at least is
needed by what was accepted.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import NoPermissionError, RedisError, ResponseError
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from gatepost.logs import Log
from gatepost.loops import pause
from main_server.store.database import Ledger, transact

AGAIN_SECONDS = 60.0
FIRST_SECONDS = 2.0

_ISOLATION = ("transaction_isolation", "tx_isolation")
_STRICT = {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"}
_BINLOG_SEALED = ("binlog_encryption", "encrypt_binlog")
_VARIABLES = (
    "innodb_flush_log_at_trx_commit",
    "log_bin",
    "local_infile",
    "general_log",
    "slow_query_log",
    "sql_mode",
    *_ISOLATION,
    *_BINLOG_SEALED,
)
REDIS = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "aof-load-truncated": "no",
    "maxmemory-policy": "noeviction",
}


def ledger_faults(variables: Mapping[str, str]) -> list[str]:
    """List what is wrong with a server's variables, as MySQL 8 or MariaDB names them."""
    faults = []
    if variables.get("innodb_flush_log_at_trx_commit") != "1":
        faults.append("innodb_flush_log_at_trx_commit must be 1: commits would be lost in a crash")
    if not any(variables.get(name) == "READ-COMMITTED" for name in _ISOLATION):
        faults.append("our sessions must be READ COMMITTED; something between sets another level")
    if not _STRICT & set(variables.get("sql_mode", "").split(",")):
        faults.append("our sessions must be strict (sql_mode): values would be cut silently")
    if variables.get("log_bin") == "ON" and not _any_on(variables, _BINLOG_SEALED):
        faults.append("log_bin must be OFF, or encrypted: it keeps keys that were destroyed")
    faults += [
        f"{log} must be OFF: it keeps keys that were destroyed"
        for log in ("general_log", "slow_query_log")
        if variables.get(log) == "ON"
    ]
    if variables.get("local_infile") == "ON":
        faults.append("local_infile must be OFF")
    return faults


def redis_faults(settings: Mapping[str | None, str | None]) -> list[str]:
    return [
        f"{name} must be {wanted}, and is {settings.get(name)}"
        for name, wanted in REDIS.items()
        if settings.get(name) != wanted
    ]


def read_variables(connection: Connection) -> dict[str, str]:
    names = ", ".join(f"'{name}'" for name in _VARIABLES)
    query = text(f"SHOW VARIABLES WHERE variable_name IN ({names})")
    return {row[0]: row[1] for row in connection.execute(query)}


async def read_redis_faults(redis: Redis) -> list[str]:
    try:
        return redis_faults(await redis.config_get(*REDIS))
    except NoPermissionError:
        return ["our user may not read its settings: grant it +config|get"]
    except ResponseError:
        return ["it does not tell its settings (CONFIG GET)"]


def _any_on(variables: Mapping[str, str], names: tuple[str, ...]) -> bool:
    return any(variables.get(name) == "ON" for name in names)


@dataclass(slots=True)
class Safety:
    """The faults of the stores' settings; a problem in production only."""

    production: bool
    faults: tuple[str, ...] = ()

    @property
    def problem(self) -> str | None:
        return "; ".join(self.faults) if self.production and self.faults else None


class Checks:
    def __init__(self, log: Log, ledger: Ledger, redis: Redis, safety: Safety) -> None:
        self._log = log
        self._ledger = ledger
        self._redis = redis
        self._safety = safety
        self._found: dict[str, list[str]] = {}

    async def wait(self, stop: asyncio.Event) -> None:
        """Wait until nothing is wrong that would be a problem."""
        await self.look()
        while self._safety.problem and not stop.is_set():
            await pause(stop, FIRST_SECONDS)
            await self.look()

    async def loop(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await pause(stop, AGAIN_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look at both stores. One that doesn't answer is as it was when it last did."""
        with suppress(SQLAlchemyError):
            self._found["ledger"] = ledger_faults(await self._ledger.run(_variables))
        with suppress(RedisError):
            self._found["redis"] = await read_redis_faults(self._redis)
        faults = tuple(f"{store}: {f}" for store, fs in self._found.items() for f in fs)
        if faults != self._safety.faults:
            write = self._log.error if self._safety.production else self._log.warning
            for fault in faults:
                write("store.unsafe", reason=fault)
            if not faults:
                self._log.info("store.safe")
        self._safety.faults = faults


def _variables(engine: Engine) -> dict[str, str]:
    return transact(engine, read_variables)
