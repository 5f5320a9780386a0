"""The search, by halving, for a row that the ledger refuses for good: it must not hold up the
others."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy.exc import DataError, IntegrityError, OperationalError

from main_server.store.database import error_code

T = TypeVar("T")
R = TypeVar("R")

_LASTING = {1048, 1292, 1364, 1366, 1406}
"""Server errors about a value or a row: the same statement would fail again."""


def bisect(
    work: Callable[[Sequence[T]], list[R]], items: Sequence[T], refuse: Callable[[T], R]
) -> list[R]:
    """Work on all items together; where that can't be, on halves, until the bad one is alone."""
    try:
        return work(items)
    except (DataError, IntegrityError, OperationalError) as error:
        if isinstance(error, OperationalError) and error_code(error) not in _LASTING:
            raise
    if len(items) == 1:
        return [refuse(items[0])]
    middle = len(items) // 2
    return bisect(work, items[:middle], refuse) + bisect(work, items[middle:], refuse)
