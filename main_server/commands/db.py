"""The work of `gatepost db upgrade`, `gatepost db current` and `gatepost db grant`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import typer
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.config.settings import load
from gatepost.errors import ConfigurationError
from main_server.settings import DatabaseOnly
from main_server.store import schema as migrating
from main_server.store.database import create_ledger_engine
from main_server.store.rights import (
    Account,
    grant_dumping,
    grant_publishing,
    grant_reading,
    grant_retaining,
    grant_showing,
    parse_account,
)


def upgrade(config: Path | None) -> None:
    """Bring the ledger's tables to this release. Needs a user that may create tables."""
    settings = _settings(config)
    engine = create_ledger_engine(settings.database, patient=True)
    try:
        changed = migrating.upgrade(engine, settings.database.keys_schema)
    except SQLAlchemyError as error:
        _fail(f"the ledger can't be upgraded: {_reason(error)}", 5)
    typer.echo(f"{'upgraded to' if changed else 'already at'} {migrating.head()}")


def current(config: Path | None) -> None:
    """Show the schema's version and the one of this release; exit code 1 if they differ."""
    settings = _settings(config)
    try:
        with create_ledger_engine(settings.database).connect() as connection:
            found = migrating.current(connection)
    except SQLAlchemyError as error:
        _fail(f"the ledger does not answer: {_reason(error)}", 5)
    typer.echo(f"ledger {found or 'empty'}, release {migrating.head()}")
    if found != migrating.head():
        raise typer.Exit(1)


def grant(part: str, account: str, config: Path | None) -> None:
    """Give a user the rights that its part needs."""
    settings = _settings(config)
    retaining = partial(grant_retaining, keys_schema=settings.database.keys_schema)
    give: dict[str, Callable[[Engine, Account], None]] = {
        "reader": grant_reading,
        "publisher": grant_publishing,
        "backup": grant_dumping,
        "retention": retaining,
        "showing": grant_showing,
    }
    try:
        give[part](create_ledger_engine(settings.database), parse_account(account))
    except ConfigurationError as error:
        _fail(str(error), 2)
    except SQLAlchemyError as error:
        _fail(f"the rights can't be granted: {_reason(error)}", 5)
    typer.echo(f"{account} may now do what a {part} does")


def _settings(config: Path | None) -> DatabaseOnly:
    try:
        return load(DatabaseOnly, config)
    except ConfigurationError as error:
        _fail(str(error), 2)


def _reason(error: SQLAlchemyError) -> str:
    """Return the driver's own words: they name hosts, tables and rights, never a value."""
    return str(getattr(error, "orig", None) or type(error).__name__)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"gatepost db: {message}", err=True)
    raise typer.Exit(code)
