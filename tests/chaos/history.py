"""What a client did and what it heard, as JSON lines: the only thing the checker believes a client.

`invoke` is written before a byte is sent and `ok | fail | info` after, each flushed at once: a
client that is killed leaves an operation open, which counts as `info`. A time-out, a connection
that ended early, an outcome-unknown are `info`, never `fail`: `fail` says that nothing was kept.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from uuid import uuid4

Kind = Literal["post", "batch", "repeat", "invalid", "poison"]
Expect = Literal["deliver", "refuse", "fail"]


@dataclass(frozen=True, slots=True)
class Item:
    """What is posted. `marker` is a text in its body that no other message has."""

    marker: str
    key: str | None = None
    expect: Expect = "deliver"
    message_id: str | None = None
    """Only of what the harness puts into the queue itself, under an id of its own."""
    digest: str | None = None
    """Of what it says (digests.py); and of what a person is to be shown of it."""
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What a client was told of one item: a 202, or a refusal with its type."""

    status: int
    message_id: str | None = None
    durability: str | None = None
    replayed: bool = False
    type: str | None = None
    retry_after: str | None = None


class History:
    """The file of one client process; no other writes to it."""

    def __init__(self, file: Path, client: str) -> None:
        self._client = client
        self._stream = file.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

    def invoke(self, kind: Kind, items: list[Item], gate: str | None = None) -> str:
        """The operation's name, by which its end is told. `gate` is where it goes."""
        op = str(uuid4())
        told = [_told(asdict(item)) for item in items]
        self._write("invoke", op, kind, items=told, **({"gate": gate} if gate else {}))
        return op

    def ok(self, op: str, kind: Kind, heard: list[Heard]) -> None:
        """An answer, item by item: accepted or refused."""
        self._write("ok", op, kind, items=[_told(asdict(one)) for one in heard])

    def fail(self, op: str, kind: Kind, why: str, heard: Heard | None = None) -> None:
        """All of it was declined and nothing was kept."""
        more = {"heard": _told(asdict(heard))} if heard else {}
        self._write("fail", op, kind, why=why, **more)

    def info(self, op: str, kind: Kind, why: str) -> None:
        """Nobody can know what became of it."""
        self._write("info", op, kind, why=why)

    def _write(self, what: str, op: str, kind: Kind, **more: Any) -> None:
        line = {
            "type": what,
            "op": op,
            "kind": kind,
            "client": self._client,
            "mono": time.monotonic_ns(),
            "wall": time.time(),
            **more,
        }
        self._stream.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._stream.flush()


def _told(values: dict[str, Any]) -> dict[str, Any]:
    """Without what isn't there, so that lines stay short."""
    return {name: value for name, value in values.items() if value not in (None, False)}
