"""What a command on keys works with; and what goes wrong, in the command's words and exit codes."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError

from gatepost.cli.failure import Failure
from gatepost.errors import ConfigurationError, GatepostError, KeysUnavailable, NotFound
from gatepost.settings import load
from main_server.database import create_ledger_engine
from main_server.keys.key_file import read_master_keys
from main_server.keys.master import MasterKeys
from main_server.settings import Keys, KeysOnly

_UNKNOWN_COLUMN = 1054


@dataclass(frozen=True, slots=True)
class Opened:
    engine: Engine
    masters: MasterKeys
    settings: Keys


@contextmanager
def opened(config: Path | None) -> Iterator[Opened]:
    # A core dump would hold keys.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with _in_words():
        settings = load(KeysOnly, config)
        masters = MasterKeys(partial(read_master_keys, settings.keys.master_key_file))
        engine = create_ledger_engine(settings.database)
        try:
            yield Opened(engine, masters, settings.keys)
        finally:
            engine.dispose()


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        raise Failure("usage", error.detail, _hint(error)) from None
    except NotFound as error:
        hint = "`gatepost keys list` shows what there is."
        raise Failure("not-found", error.detail, hint) from None
    except KeysUnavailable as error:
        raise Failure("unavailable", error.detail) from None
    except GatepostError as error:
        raise Failure("refused", error.detail) from None
    except SQLAlchemyError as error:
        raise _ledger_failure(error) from None


def _hint(error: ConfigurationError) -> str | None:
    if error.detail.startswith("the environment can't be used"):
        return "Give the main server's configuration: --config FILE."
    return None


def _ledger_failure(error: SQLAlchemyError) -> Failure:
    """The driver's own words: they name hosts, tables and rights, never a value."""
    reason = getattr(error, "orig", None)
    code = reason.args[0] if reason is not None and reason.args else None
    if isinstance(error, ProgrammingError) or code == _UNKNOWN_COLUMN:
        return Failure(
            "usage", f"The ledger is of another release: {reason}", "gatepost db upgrade"
        )
    if isinstance(error, OperationalError):
        return Failure("unavailable", f"The ledger does not answer: {reason}")
    return Failure("fault", f"The ledger can't do this: {reason or type(error).__name__}")
