"""The harness's own journal, `faults.jsonl`: when each fault began, ended, and what it destroyed.

The checker reads it offline; each line is flushed, for the harness may be killed as well. Beside
it, in `notes.jsonl`, is what else a reader may want to know: what was started again, what failed.
"""

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO


class Journal:
    def __init__(self, folder: Path) -> None:
        self._faults = (folder / "faults.jsonl").open("a", encoding="utf-8")
        self._notes = (folder / "notes.jsonl").open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def begin(self, fault: str, target: str, *, destroyed: bool, held: Sequence[str] = ()) -> None:
        """`held`: messages that a worker who is killed had reserved and not yet offered."""
        more: dict[str, Any] = {"destroyed": True} if destroyed else {}
        more |= {"held": list(held)} if held else {}
        self._write(self._faults, {"type": "begin", "fault": fault, "target": target, **more})

    def end(self, fault: str, target: str) -> None:
        self._write(self._faults, {"type": "end", "fault": fault, "target": target})

    def undone(self, what: str, target: str, why: str) -> None:
        """The harness could not do what it must: from here on the run is not what it should be."""
        self._write(self._faults, {"type": "undone", "fault": what, "target": target, "why": why})

    def note(self, what: str, target: str, **more: Any) -> None:
        self._write(self._notes, {"what": what, "target": target, **more})

    def close(self) -> None:
        self._faults.close()
        self._notes.close()

    def _write(self, stream: TextIO, line: dict[str, Any]) -> None:
        times = {"mono": time.monotonic_ns(), "wall": time.time()}
        with self._lock:
            stream.write(json.dumps(line | times) + "\n")
            stream.flush()
