"""The lead among main servers: the one whose connection holds the lock reconciles, as long as it
lives.

Everything is asked in transactions of the usual kind: to set another isolation level, or to set it
back as the connection is closed, raises errors of the driver that SQLAlchemy doesn't make its own.
"""

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from main_server.messages.reconcile import repository


class Leadership:
    """The lead of this main server, if it has it. Used from one thread at a time."""

    def __init__(self) -> None:
        self._connection: Connection | None = None

    def held(self, engine: Engine) -> bool:
        """Tell whether we lead now; take the lead if nobody has it."""
        if self._connection is not None and self._still_ours(self._connection):
            return True
        self._let_go()
        connection = engine.connect()
        try:
            with connection.begin():
                leads = repository.take_lead(connection)
        except SQLAlchemyError:
            connection.invalidate()  # the lock may be ours: it must not outlive our knowing
            connection.close()
            raise
        if leads:
            self._connection = connection
        else:
            connection.close()
        return leads

    def release(self, _engine: Engine) -> None:
        self._let_go()

    def _still_ours(self, connection: Connection) -> bool:
        try:
            with connection.begin():
                return repository.has_lead(connection)
        except SQLAlchemyError:
            return False

    def _let_go(self) -> None:
        """Close the connection for good: back in the pool it would keep the lock."""
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
