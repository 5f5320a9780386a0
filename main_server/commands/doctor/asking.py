"""The ways in which a look asks the ledger and Redis: as the main server, and not for long."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis
from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError

from gatepost.cli.configuration import file_of
from gatepost.cli.doctor.look import CantTell, Finding, Findings, See
from gatepost.cli.doctor.looks.redis import ask
from gatepost.cli.doctor.site import Site
from main_server.settings import MainServerSettings
from main_server.store.database import is_outage, open_ledger

NAME = "main_server"
SECONDS = 6


@dataclass(frozen=True)
class Here:
    """A machine that has a main server."""

    site: Site
    settings: MainServerSettings

    @property
    def file(self) -> Path:
        return self.site.parts[NAME].file

    def beside(self, name: str) -> Path:
        """Return the settings file of one of our commands."""
        return file_of(self.site.folder, name)


def here(see: Callable[[Here], Findings]) -> See:
    """Make a look that finds nothing where there is no main server."""

    def of(site: Site) -> Findings:
        settings = site.of(NAME, MainServerSettings)
        return () if settings is None else see(Here(site, settings))

    return of


def of_ledger(judge: Callable[[Here, Connection], Findings]) -> See:
    def see(one: Here) -> list[Finding]:
        with asking(one) as connection:
            return list(judge(one, connection))

    return here(see)


def of_redis(judge: Callable[[Here, Redis], Awaitable[list[Finding]]]) -> See:
    return here(lambda one: ask(one.settings.redis, lambda redis: judge(one, redis)))


@contextmanager
def asking(one: Here) -> Iterator[Connection]:
    """Yield a connection; raise CantTell if the ledger doesn't answer, which another look says is
    wrong."""
    try:
        with (
            open_ledger(one.settings.database, seconds=SECONDS) as engine,
            engine.connect() as connection,
        ):
            yield connection
    except SQLAlchemyError as error:
        if is_outage(error):
            raise CantTell("the ledger does not answer", "gatepost doctor ledger") from error
        if isinstance(error, ProgrammingError):
            words = "the ledger has not what this release asks for"
            raise CantTell(words, "gatepost doctor ledger-schema") from error
        raise
