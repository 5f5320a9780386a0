"""redis-py's errors become ours; a mistake of ours stays what it is."""

import pytest
from redis import exceptions as redis_errors

from gatepost.queue import (
    QueueError,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    QueueSlow,
    QueueUnavailable,
    QueueUnreachable,
)
from gatepost.queue.errors import typed, typed_errors

CASES = [
    (redis_errors.BusyLoadingError("…"), QueueLoading),
    (redis_errors.ConnectionError("Connection closed"), QueueUnavailable),
    (redis_errors.AuthenticationError("WRONGPASS"), QueueUnavailable),
    (redis_errors.MaxConnectionsError("Too many connections"), QueueUnavailable),
    (redis_errors.ClusterDownError("CLUSTERDOWN The cluster is down"), QueueUnavailable),
    (redis_errors.RedisClusterException("no node answers"), QueueUnavailable),
    (redis_errors.TryAgainError("TRYAGAIN slots move"), QueueUnavailable),
    (redis_errors.TimeoutError("Timeout reading"), QueueSlow),
    (TimeoutError("…"), QueueSlow),
    (ConnectionResetError("…"), QueueUnavailable),
    (redis_errors.OutOfMemoryError("command not allowed"), QueueFull),
    (redis_errors.ResponseError("OOM command not allowed"), QueueFull),
    (redis_errors.ReadOnlyError("You can't write"), QueueReadOnly),
    (redis_errors.ResponseError("UNBLOCKED force unblock from blocking operation"), QueueReadOnly),
    (redis_errors.ResponseError("MISCONF Errors writing to the AOF file"), QueueReadOnly),
    (redis_errors.ResponseError("NOREPLICAS Not enough good replicas"), QueueReadOnly),
    (redis_errors.ResponseError("MASTERDOWN Link with MASTER is down"), QueueUnavailable),
    (redis_errors.ResponseError("BUSY Redis is busy running a script"), QueueSlow),
]


@pytest.mark.parametrize(("theirs", "ours"), CASES, ids=lambda case: str(case)[:40])
def test_an_error_gets_its_type(theirs: Exception, ours: type[QueueError]) -> None:
    with pytest.raises(QueueError) as raised, typed_errors():
        raise theirs

    assert type(raised.value) is ours
    assert raised.value.__cause__ is theirs
    assert str(raised.value) == ours.__doc__


@pytest.mark.parametrize(
    "defect",
    [redis_errors.ResponseError("ERR user_script:12: a mistake"), redis_errors.DataError("…")],
    ids=str,
)
def test_a_defect_passes_through(defect: Exception) -> None:
    assert typed(defect) is None
    with pytest.raises(type(defect)), typed_errors():
        raise defect


def test_a_refused_connection_is_told_from_one_that_broke_off() -> None:
    """After the one nothing has happened; after the other it may have."""
    theirs = redis_errors.ConnectionError("Error 111 connecting")
    theirs.__context__ = ConnectionRefusedError(111, "Connection refused")
    assert type(typed(theirs)) is QueueUnreachable
    theirs.__context__ = ConnectionResetError(104, "Connection reset by peer")
    assert type(typed(theirs)) is QueueUnavailable
