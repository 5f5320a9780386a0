"""The connection to the ledger: where transactions begin and end, and what is tried again.

READ COMMITTED, and strict: a value that doesn't fit is an error, and is never cut. A deadlock or a
lock time-out undoes a whole transaction, so the whole of it is run again, a few times; so it is
when the connection was lost, at the commit even, because everything that is done here may be done
twice. Transactions run in threads: the driver is synchronous, its batches are few.
"""

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from gatepost.errors import LedgerUnavailable
from main_server.settings import Database, Replica
from main_server.store.tables import KEYS

P = ParamSpec("P")
T = TypeVar("T")

_DEADLOCK, LOCK_TIMEOUT, _GONE, _LOST = 1213, 1205, 2006, 2013
_WORTH_ANOTHER_TRY = {_DEADLOCK, LOCK_TIMEOUT, _GONE, _LOST}
_TRIES = 4
_CONNECTION_LOST = range(2000, 3000)
"""The client's own errors: it can't connect, or was cut off."""
_AWAY = {
    *(_DEADLOCK, LOCK_TIMEOUT),
    *(1040, 1129, 1203, 1226),  # too many connections
    *(1053, 1152, 1158, 1159, 1160, 1161, 1927),  # it ends, or ends this one
    *(1021, 1030, 1041, 1114),  # no room on its disk or in its memory
    *(1290, 1836),  # it only reads just now
}
"""The server's errors, of which some may be gone by the next try."""

_SESSION = (
    "SET SESSION time_zone = '+00:00', sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,"
    "NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',"
    " innodb_lock_wait_timeout = 2"
)
"""The settings of each session, whatever the server's own are; modes that change how a statement is
read are off.

Whoever waits for a row gives up long before their caller does: a statement that its client has
given up would go on waiting in the server, with all the locks that it holds, and the next try
behind it.
"""


READ_SECONDS = 15
"""Seconds after which a statement is given up here, though the server may go on with it."""


REPLICA_SECONDS = 4
"""The same at a replica: then there is time left to ask the ledger."""


def create_ledger_engine(
    settings: Database, *, patient: bool = False, seconds: int = READ_SECONDS
) -> Engine:
    """Create the engine; `patient` is for whoever changes tables, or reads whole ones: that takes
    as long as it takes."""
    limits = {} if patient else {"read_timeout": seconds, "write_timeout": seconds}
    engine = create_engine(
        settings.address(),
        isolation_level="READ COMMITTED",
        pool_size=settings.pool_size + 1,  # the reconciler's lock keeps one for itself
        pool_timeout=8,
        max_overflow=0,
        pool_reset_on_return=None,  # every transaction here ends by itself: no ROLLBACK after each
        connect_args={"connect_timeout": 3, **limits},
        hide_parameters=True,  # an error must not show what was to be stored
    ).execution_options(schema_translate_map={KEYS: settings.keys_schema})
    event.listen(engine, "connect", _set_up, insert=True)  # before anything asks for the modes
    return engine


def create_replica_engine(settings: Replica) -> Engine:
    """Create the engine of what only reads: a replica that doesn't answer soon is passed over, as
    the ledger can be asked. There are no keys there, so whoever looks for them finds no such
    schema."""
    engine = create_engine(
        settings.address(),
        isolation_level="READ COMMITTED",
        pool_size=settings.pool_size,
        pool_timeout=1,
        max_overflow=0,
        connect_args={"connect_timeout": 1, "read_timeout": REPLICA_SECONDS},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up, insert=True)
    return engine


@contextmanager
def open_ledger(
    settings: Database, *, patient: bool = False, seconds: int = READ_SECONDS
) -> Iterator[Engine]:
    """Open the ledger for as long as a command works."""
    engine = create_ledger_engine(settings, patient=patient, seconds=seconds)
    try:
        yield engine
    finally:
        engine.dispose()


def _set_up(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SESSION)


class Ledger:
    """The engine, and the threads in which its transactions run."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="ledger")

    async def run(
        self,
        function: Callable[Concatenate[Engine, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a function of the engine in a thread; its commits are done when this returns."""
        work = partial(function, self._engine, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


class RequestLedger(Ledger):
    """The ledger as requests have it: where it breaks off, whoever asked is told to come again, and
    no fault of ours is logged. Every request of every port comes by here."""

    def __init__(self, ledger: Ledger) -> None:
        self._engine, self._threads = ledger._engine, ledger._threads

    async def run(
        self,
        function: Callable[Concatenate[Engine, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a function as `Ledger.run` does; raise LedgerUnavailable where the ledger breaks
        off."""
        try:
            return await super().run(function, *args, **kwargs)
        except SQLAlchemyError as error:
            if is_outage(error):
                raise LedgerUnavailable() from error
            raise


def is_outage(error: SQLAlchemyError) -> bool:
    """Tell whether the ledger is away, or has too much to do; else it was asked for what can't
    be."""
    if isinstance(error, PoolTimeout | InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    code = error_code(error)
    return code is not None and (code in _CONNECTION_LOST or code in _AWAY)


def transact(engine: Engine, function: Callable[[Connection], T]) -> T:
    """Run a function of a connection in one transaction, which is committed on return."""
    for left in reversed(range(_TRIES)):
        try:
            with engine.begin() as connection:
                return function(connection)
        except OperationalError as error:
            if left == 0 or error_code(error) not in _WORTH_ANOTHER_TRY:
                raise
            time.sleep(random.uniform(0.01, 0.05))  # parts two that collided
    raise AssertionError("unreachable")


def error_code(error: OperationalError) -> int | None:
    return error.orig.args[0] if error.orig and error.orig.args else None
