"""Turn what goes wrong in a command of ours into the command's words and exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError

from gatepost.cli.failure import Failure
from gatepost.errors import (
    ConfigurationError,
    GatepostError,
    KeysUnavailable,
    NotFound,
    Unavailable,
)

_UNKNOWN_COLUMN = 1054


@contextmanager
def in_words(where_to_look: str) -> Iterator[None]:
    """Turn errors into failures; `where_to_look` is the hint for what can't be found."""
    try:
        yield
    except ConfigurationError as error:
        raise Failure("usage", error.detail, _hint(error)) from None
    except NotFound as error:
        raise Failure("not-found", error.detail, where_to_look) from None
    except (KeysUnavailable, Unavailable) as error:
        raise Failure("unavailable", error.detail) from None
    except GatepostError as error:
        wrong = [f"{one.pointer.strip('/')} {one.detail}".strip() for one in error.errors]
        raise Failure("refused", "\n".join(wrong) or error.detail) from None
    except SQLAlchemyError as error:
        raise _ledger_failure(error) from None


def _hint(error: ConfigurationError) -> str | None:
    if error.detail.startswith("the environment can't be used"):
        return "Give the main server's configuration: --config FILE."
    return None


def _ledger_failure(error: SQLAlchemyError) -> Failure:
    """Return the failure in the driver's own words: they name hosts, tables and rights, never a
    value."""
    reason = getattr(error, "orig", None)
    code = reason.args[0] if reason is not None and reason.args else None
    if isinstance(error, ProgrammingError) or code == _UNKNOWN_COLUMN:
        return Failure(
            "usage", f"The ledger is of another release: {reason}", "gatepost db upgrade"
        )
    if isinstance(error, OperationalError):
        return Failure("unavailable", f"The ledger does not answer: {reason}")
    return Failure("fault", f"The ledger can't do this: {reason or type(error).__name__}")
