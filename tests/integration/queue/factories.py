"""Messages for tests, each with an id of its own."""

import os
from typing import Any

from gatepost.queue import Entry


def entry(**facts: Any) -> Entry:
    """Return an entry; say only what matters."""
    return Entry(**{"id": os.urandom(16), "payload": os.urandom(24), **facts})


def entries(count: int, **facts: Any) -> list[Entry]:
    return [entry(**facts) for _ in range(count)]
