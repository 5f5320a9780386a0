"""The rule that what is told must last: no crash of the ledger may take back what somebody has
heard from it.

A commit shows to others some milliseconds before its log is on disk. Whoever only reads meanwhile
hears of it, waits for no disk, and tells it on; the crash then undoes it. So a transaction that
goes by what another has committed changes something itself: its commit waits for the disk, and the
log is written in order, with all that was read before (I1, I2).
"""

import random
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

_PLACES = 16
"""The number of rows to change, so that those who commit at the same time rarely wait for each
other."""

_CHANGE = (
    "INSERT INTO flushes (place, number) VALUES (%(place)s, 1)"
    " ON DUPLICATE KEY UPDATE number = number + 1"
)
SURE_MINUTES = 10
"""Minutes after which any commit is on disk: a server that can't write for so long gives itself
up."""


def make_lasting(connection: Connection) -> None:
    """Have the commit of this transaction bring to disk all that it has read; to be called last."""
    connection.exec_driver_sql(_CHANGE, {"place": random.randrange(_PLACES)})


def may_go_back(status: Mapping[str, Any]) -> bool:
    """Tell whether a crash now could show that what this row says was said too early.

    What waits untried says nothing that could be taken back.
    """
    if status["status"] == "queued":
        return bool(status["attempt_count"])
    minutes = status["minutes_delivered"]
    return minutes is None or minutes < SURE_MINUTES
