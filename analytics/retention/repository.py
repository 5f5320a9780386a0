"""SQL for how long things are kept: in the ledger, in the lake, in the reports."""

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Connection, text

from analytics.lake import MESSAGES, Folder


@dataclass(frozen=True, slots=True)
class Kept:
    """The times for which things are kept, in days. `shortest` and `longest` are of the ledger, by
    whatever domain or client."""

    shortest: int
    longest: int
    lake: int
    reports: int


def read_kept(connection: Connection, usual: int) -> Kept:
    set_days = text(
        "SELECT retention_days FROM domains WHERE retention_days IS NOT NULL"
        " UNION SELECT retention_days FROM clients WHERE retention_days IS NOT NULL"
    )
    days = [usual, *connection.execute(set_days).scalars()]
    lake, reports = connection.execute(
        text("SELECT lake_days, report_days FROM retention_state")
    ).one()
    return Kept(min(days), max(days), lake, reports)


def folders_until(connection: Connection, last: date, kind: str) -> list[Folder]:
    """Return the folders of the days up to this one, whether the manifest names them or not."""
    query = text(
        "SELECT day, run_id, kind FROM lake_folders WHERE day <= :last AND kind = :kind"
        " ORDER BY day, run_id"
    )
    return [Folder(*row) for row in connection.execute(query, {"last": last, "kind": kind})]


def forget_folder(connection: Connection, folder: Folder, now: datetime) -> None:
    """Forget a folder. The manifest keeps its row, by which it is known that the day was sealed."""
    statement = text("DELETE FROM lake_folders WHERE day = :day AND run_id = :run AND kind = :kind")
    values = {"day": folder.day, "run": folder.run_id, "kind": folder.kind}
    connection.execute(statement, values)
    removed = text(
        "UPDATE lake_manifest SET removed_at = :now"
        " WHERE day = :day AND run_id = :run AND removed_at IS NULL"
    )
    if folder.kind == MESSAGES:
        connection.execute(removed, {"day": folder.day, "run": folder.run_id, "now": now})


def removed_between(connection: Connection, first: date, last: date) -> set[date]:
    query = text(
        "SELECT day FROM lake_manifest WHERE day BETWEEN :first AND :last"
        " AND removed_at IS NOT NULL"
    )
    return set(connection.execute(query, {"first": first, "last": last}).scalars())


def report_tables(connection: Connection) -> list[tuple[str, str]]:
    """Return the tables of all reports, each with the column of the day that a row is of; for
    clients, that is the last day that they had messages on."""
    query = text(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND table_name LIKE 'report!_%' ESCAPE '!'"
        " AND column_name IN ('day', 'last_day') ORDER BY table_name"
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


def delete_reports(connection: Connection, table: str, column: str, last: date, limit: int) -> int:
    """Delete a part of what the table has of the days up to this one. Names are ours."""
    statement = text(f"DELETE FROM {table} WHERE {column} <= :last LIMIT :most")
    return connection.execute(statement, {"last": last, "most": limit}).rowcount
