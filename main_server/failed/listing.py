"""Failed messages as an administrator looks at them: how many for each reason, and which.

They are found along the failed ones of all domains, and only theirs are counted and listed (I12).
"""

from sqlalchemy import Connection, Engine

from main_server.database import transact
from main_server.failed import repository
from main_server.failed.repository import Selection
from main_server.keys.service import Keyring
from main_server.reading.listed.repository import Entry, read_entries
from main_server.reading.search import PAGE, Page, with_numbers


def count_by_reason(engine: Engine, selection: Selection) -> dict[str | None, int]:
    """The most frequent first."""
    found = transact(engine, lambda c: repository.count_by_reason(c, selection))
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0] or "")))


def list_failed(engine: Engine, keyring: Keyring, selection: Selection) -> Page:
    def work(connection: Connection) -> tuple[list[bytes], list[Entry]]:
        ids = repository.list_failed(connection, selection, PAGE + 1)
        return ids, read_entries(connection, ids[:PAGE]) if ids else []

    ids, entries = transact(engine, work)
    full = len(ids) > PAGE
    return Page(with_numbers(engine, keyring, entries), ids[PAGE - 1] if full else None, full)
