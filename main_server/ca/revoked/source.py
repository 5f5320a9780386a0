"""The ledger as a source of what is revoked, with a connection and a thread of its own.

Whatever waits for the ledger elsewhere must not make this view old.
"""

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.service.revocation_sources import NoAnswer
from gatepost.trust.revocation import Revocations
from main_server.ca.revoked import repository
from main_server.settings import Database
from main_server.store.database import Ledger, create_ledger_engine, transact


class LedgerSource:
    name = "ledger"

    def __init__(self, settings: Database) -> None:
        alone = settings.model_copy(update={"pool_size": 1})
        self._ledger = Ledger(create_ledger_engine(alone), 1)

    async def ask(self, seen: int | None) -> Revocations | None:
        """Return what is revoked; None if its number still is `seen`. Raise NoAnswer if the ledger
        doesn't answer."""
        try:
            return await self._ledger.run(_read, seen)
        except SQLAlchemyError as error:
            raise NoAnswer(f"the ledger does not answer: {type(error).__name__}") from None


def _read(engine: Engine, seen: int | None) -> Revocations | None:
    if transact(engine, repository.read_number) == seen:
        return None
    return transact(engine, repository.read_revocations)
