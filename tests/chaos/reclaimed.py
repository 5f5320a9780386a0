"""When messages lost their lease and went back to the head of their queue, by what workers say.

It excuses others that waited meanwhile, and nothing else; and only a lease after a fault.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

EVENT = "leases.reclaimed"


def reclaimed(logs: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(logs.glob("worker*.log")):
        with file.open(encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if EVENT in line and (said := _read(line)) is not None:
                    yield said


def _read(line: str) -> dict[str, Any] | None:
    """Nothing of a line that a killed process didn't finish."""
    try:
        told = json.loads(line)
        wall = datetime.fromisoformat(told["ts"]).timestamp()
        return {"wall": wall, "count": told["count"]} if told["event"] == EVENT else None
    except (ValueError, KeyError, TypeError):
        return None
