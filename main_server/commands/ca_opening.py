"""The things that a command of the CA works with: the ledger, the intermediates, and those who must
hear."""

import asyncio
import os
import pwd
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import typer
from redis.exceptions import RedisError
from sqlalchemy import Engine

from gatepost.cli.failure import EXIT_OF_KIND, Failure
from gatepost.cli.words import plural
from gatepost.config.settings import load
from gatepost.queue import connect
from gatepost.safety import forbid_core_dumps
from gatepost.trust.revocation import Revocations
from main_server.ca.authorities import Authorities
from main_server.ca.recovery import follow
from main_server.ca.revocation import publish
from main_server.ca.revoked.repository import read_revocations
from main_server.commands.failures import in_words
from main_server.settings import CaOnly
from main_server.store.database import open_ledger, transact

REDIS_SECONDS = 3.0


@dataclass(frozen=True)
class Opened:
    engine: Engine
    settings: CaOnly

    @cached_property
    def authorities(self) -> Authorities:
        return Authorities(self.settings.ca.folder, self.settings.ca.public_url)

    def publish(self) -> bool:
        """Write the file and tell Redis. Where that fails, main servers do it when they run.

        Return whether Redis was told.
        """
        file, now = self.settings.ca.crl_file, datetime.now(UTC)
        try:
            serials = follow(self.engine, self.authorities.all, file, now).serials
        finally:
            told = self._tell(transact(self.engine, read_revocations))
        if serials:
            words = f"{plural(len(serials), 'certificate')} revoked again: the ledger was restored."
            typer.echo(f"gatepost: {words}", err=True)
        return told

    def _tell(self, revocations: Revocations) -> bool:
        async def tell() -> None:
            async with asyncio.timeout(REDIS_SECONDS):
                async with connect(self.settings.redis.address()) as redis:
                    await publish(redis, revocations)

        try:
            asyncio.run(tell())
        except (RedisError, TimeoutError) as error:
            words = f"Redis was not told ({type(error).__name__}); a running main server does it."
            typer.echo(f"gatepost: {words}", err=True)
            return False
        return True


@contextmanager
def opened(
    config: Path | None, look: str = "`gatepost cert list` shows what there is."
) -> Iterator[Opened]:
    """Open what the command works with. `look` is said to whoever names what isn't there."""
    forbid_core_dumps()
    with in_words(look):
        settings = load(CaOnly, config)
        with open_ledger(settings.database) as engine:
            yield Opened(engine, settings)


def end(*, told: bool) -> None:
    """End the command: a script, too, is to know when not all have heard of what was done."""
    if not told:
        raise typer.Exit(EXIT_OF_KIND["unheard"])


def actor() -> str:
    """Return whom the audit log names: the user at this shell, by the system's word, not the
    shell's."""
    try:
        return f"shell:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"shell:{os.getuid()}"


DRY_RUN = "--dry-run shows what it would do"


def confirm(question: str, *, yes: bool, instead: str = DRY_RUN) -> None:
    """Ask at a terminal before something that hurts; elsewhere demand --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failure("usage", f"Nothing was done: --yes does it, {instead}.")
    if not typer.confirm(question, err=True):
        raise Failure("interrupted", "Nothing was done.")
