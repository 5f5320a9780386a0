"""The harness's own journal, `faults.jsonl`: when each fault began, ended, and what it destroyed.

The checker reads it offline; each line is flushed, for the harness may be killed as well.
"""

import json
import threading
import time
from pathlib import Path
from typing import Any


class Journal:
    def __init__(self, file: Path) -> None:
        self._stream = file.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, kind: str, **fields: Any) -> None:
        """`kind` is begin, end, note (what the harness did besides) or skip (what it can't do)."""
        times = {"mono": time.monotonic_ns(), "wall": time.time()}
        line = json.dumps({"type": kind, **fields, **times})
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()

    def close(self) -> None:
        self._stream.close()
