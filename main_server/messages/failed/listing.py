"""Failed messages as an administrator looks at them: how many for each reason.

They are counted as lists are read: those of the administrator's own clients alone, and in a bounded
number of rows; where there are more, it is said since when they were counted (I12).
"""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from main_server.messages.reading.search import ROWS_LOOKED_AT, Query, walk
from main_server.people.users.viewer import Viewer
from main_server.store.database import transact


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts by reason, the most frequent first; from `since` on, or from the beginning if None."""

    reasons: list[tuple[str | None, int]]
    since: bytes | None


def count_by_reason(engine: Engine, viewer: Viewer, query: Query) -> Counted:
    def work(connection: Connection) -> Counted:
        walked = walk(connection, viewer, query, ROWS_LOOKED_AT, rows=True)
        found = Counter(one.reason for one in walked.found)
        reasons = sorted(found.items(), key=lambda one: (-one[1], one[0] or ""))
        return Counted(reasons, walked.horizon)

    return transact(engine, work)
