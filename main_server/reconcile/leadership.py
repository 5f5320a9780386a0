"""Which main server reconciles: the one whose connection holds the lock, as long as it lives."""

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from main_server.reconcile import repository


class Leadership:
    """Used from one thread at a time."""

    def __init__(self) -> None:
        self._connection: Connection | None = None

    def held(self, engine: Engine) -> bool:
        """Whether we lead now; takes the lead if nobody has it."""
        if self._connection is not None and self._still_ours(self._connection):
            return True
        self._let_go()
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if repository.take_lead(connection):
            self._connection = connection
            return True
        connection.close()
        return False

    def release(self, _engine: Engine) -> None:
        self._let_go()

    def _still_ours(self, connection: Connection) -> bool:
        try:
            return repository.has_lead(connection)
        except SQLAlchemyError:
            return False

    def _let_go(self) -> None:
        """Closes the connection for good: back in the pool it would keep the lock."""
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
