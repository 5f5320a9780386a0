"""SQL for how long answers took: the totals that each process has said, hour by hour."""

import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, text

from gatepost.wire.vitals import Answered


def put_answers(connection: Connection, hour: datetime, answers: Mapping[str, Answered]) -> None:
    """Put totals since each process's start, which only grow: whoever writes them, and however
    often, the largest stands there. They are put in an order that all writers have, so that nobody
    waits crosswise."""
    statement = text(
        "INSERT INTO answer_times (hour, process, answered, accepted, within_ms)"
        " VALUES (:hour, :process, :answered, :accepted, :within)"
        " ON DUPLICATE KEY UPDATE"
        " within_ms = IF(VALUES(answered) > answered, VALUES(within_ms), within_ms),"
        " accepted = GREATEST(accepted, VALUES(accepted)),"
        " answered = GREATEST(answered, VALUES(answered))"  # the last one: the first asks for it
    )
    for process, one in sorted(answers.items()):
        counts = {"answered": one.count, "accepted": one.accepted}
        within = json.dumps(one.within_ms)
        values = {"hour": hour, "process": process, "within": within, **counts}
        connection.execute(statement, values)


def forget_answers(connection: Connection, before: datetime) -> None:
    statement = text("DELETE FROM answer_times WHERE hour < :before LIMIT 1000")
    connection.execute(statement, {"before": before})
