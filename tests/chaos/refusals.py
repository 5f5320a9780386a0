"""A ledger that refuses some changes of `messages` for a while, by a trigger of the run's."""

from typing import Any

DELIVERS = "NEW.status = 'delivered' AND OLD.status = 'queued'"
ONE_OF_EIGHT = "ORD(RIGHT(OLD.message_id, 1)) % 8 = 0"
TOO_LONG, LOCK_WAIT = 1406, 1205
"""Errors of the database: this row won't do; try again."""


def refuse_changes(connection: Any, event: str, condition: str, errno: int) -> None:
    """By a connection of one who may change tables."""
    connection.cursor().execute(
        f"CREATE TRIGGER chaos_refuses BEFORE {event} ON messages FOR EACH ROW"
        f" IF {condition} THEN SIGNAL SQLSTATE '22001'"
        f" SET MYSQL_ERRNO = {errno}, MESSAGE_TEXT = 'not now'; END IF"
    )


def refuse_no_more(connection: Any) -> None:
    connection.cursor().execute("DROP TRIGGER IF EXISTS chaos_refuses")
