"""The errors between the engine and Redis, as types of our own.

redis-py's exceptions never leave the engine. A QueueError means that Redis could not or would not
do what was asked; after QueueSlow and QueueUnavailable it may still have done it. A mistake in a
script or an argument isn't one of these: it is a defect, and passes through as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from redis import exceptions as redis_errors


class QueueError(Exception):
    """Redis could not do what was asked."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.__doc__)


class QueueUnavailable(QueueError):
    """Redis can't be reached, or broke off."""


class QueueUnreachable(QueueUnavailable):
    """Redis takes no connection, so nothing was asked of it."""


class QueueLoading(QueueUnavailable):
    """Redis is still reading its data."""


class QueueSlow(QueueError):
    """Redis didn't answer in time."""


class QueueFull(QueueError):
    """Redis is out of memory and takes nothing more in."""


class QueueReadOnly(QueueError):
    """Redis refuses to write: it is a replica, or can't write to its disk."""


class QueueDamaged(QueueError):
    """What Redis holds of the queue is not what the engine has put there."""


# In this order: the first that fits counts, and some of them derive from others.
_BY_TYPE: tuple[tuple[type[Exception], type[QueueError]], ...] = (
    (redis_errors.BusyLoadingError, QueueLoading),
    (redis_errors.OutOfMemoryError, QueueFull),
    (redis_errors.ReadOnlyError, QueueReadOnly),
    (redis_errors.TimeoutError, QueueSlow),
    (TimeoutError, QueueSlow),
    (redis_errors.ClusterError, QueueUnavailable),
    (redis_errors.RedisClusterException, QueueUnavailable),
    (redis_errors.TryAgainError, QueueUnavailable),
    (redis_errors.ConnectionError, QueueUnavailable),
    (OSError, QueueUnavailable),
)
# Answers that redis-py has no type for, by their first word.
_BY_WORD: dict[str, type[QueueError]] = {
    "OOM": QueueFull,
    "READONLY": QueueReadOnly,
    "UNBLOCKED": QueueReadOnly,  # to who waits, as it becomes a replica
    "MISCONF": QueueReadOnly,
    "NOREPLICAS": QueueReadOnly,
    "LOADING": QueueLoading,
    "BUSY": QueueSlow,
    "CLUSTERDOWN": QueueUnavailable,
    "MASTERDOWN": QueueUnavailable,
}


def typed(error: Exception) -> QueueError | None:
    """Return the engine's own error for one of redis-py's, or None for a defect."""
    if isinstance(error.__context__, ConnectionRefusedError):
        return QueueUnreachable()
    for theirs, ours in _BY_TYPE:
        if isinstance(error, theirs):
            return ours()
    word = str(error).split(" ", 1)[0]
    return _BY_WORD[word]() if word in _BY_WORD else None


@contextmanager
def typed_errors() -> Iterator[None]:
    """Let no exception of redis-py's out but those that are defects."""
    try:
        yield
    except Exception as error:
        ours = typed(error)
        if ours is None:
            raise
        raise ours from error
