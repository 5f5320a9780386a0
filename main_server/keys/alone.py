"""Let one command at a time change keys at length. Each step of one is whole; this is for
people."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from gatepost.errors import GatepostError

_LOCK = "gatepost.keys"


class Busy(GatepostError):
    """Another command is changing keys just now. Wait until it has ended."""


@contextmanager
def alone(engine: Engine, name: str = _LOCK, busy: type[GatepostError] = Busy) -> Iterator[None]:
    """Hold a lock while the block runs, or raise `busy`. It belongs to a connection of its own,
    which ends with it."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection.scalar(text("SELECT GET_LOCK(:name, 0)"), {"name": name}):
            raise busy()
        try:
            yield
        finally:
            with suppress(DBAPIError):
                connection.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": name})
            connection.invalidate()
