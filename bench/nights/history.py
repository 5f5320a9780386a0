"""A lake that is a year old: the days before, as published and sealed ones, each a copy of the
oldest real one under another name. No night reads a sealed day, so what is in it doesn't matter."""

import os
import shutil
from datetime import date, timedelta
from pathlib import Path

from sqlalchemy import Engine, text

from analytics.days import ids_of
from main_server.store.tables import metadata

DAY = timedelta(days=1)


def lengthen(engine: Engine, lake: Path, to: int) -> None:
    """Until the lake has so many days."""
    with engine.begin() as connection:
        oldest, have = connection.execute(
            text("SELECT MIN(day), COUNT(*) FROM lake_manifest")
        ).one()
        run_id = connection.execute(
            text("SELECT run_id FROM lake_manifest WHERE day = :day"), {"day": oldest}
        ).scalar_one()
        for n in range(1, to - have + 1):
            for name, columns in _by_day().items():
                rest = ", ".join(column for column in columns if column != "day")
                connection.execute(
                    text(
                        f"INSERT INTO {name} (day, {rest})"
                        f" SELECT :new, {rest} FROM {name} WHERE day = :oldest"
                    ),
                    {"new": oldest - DAY * n, "oldest": oldest},
                )
            template = _folder(lake, oldest) / f"run={run_id}"
            copy = _folder(lake, oldest - DAY * n) / f"run={run_id}"
            shutil.copytree(template, copy, copy_function=os.link)
        connection.execute(
            text("UPDATE lake_manifest SET sealed_at = published_at WHERE day < :oldest"),
            {"oldest": oldest},
        )


def shorten(engine: Engine, lake: Path, first: date) -> None:
    """Nothing is left of the days before the first one, in the ledger neither."""
    with engine.begin() as connection:
        for name in _by_day():
            connection.execute(text(f"DELETE FROM {name} WHERE day < :first"), {"first": first})
        begin = ids_of(first).first.hex()
        connection.execute(text(f"DELETE FROM messages WHERE message_id < x'{begin}'"))
    for folder in (lake / "messages").iterdir():
        if date.fromisoformat(folder.name.removeprefix("dt=")) < first:
            shutil.rmtree(folder)


def _by_day() -> dict[str, list[str]]:
    """The pipeline's tables that have rows of days."""
    return {
        name: [column.name for column in table.columns]
        for name, table in metadata.tables.items()
        if name.startswith(("lake_", "report_")) and "day" in table.primary_key.columns
    }


def _folder(lake: Path, day: date) -> Path:
    return lake / "messages" / f"dt={day}"
