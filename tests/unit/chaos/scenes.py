"""Hand-made evidence: what clients, faults and stores would have written, second by second."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.chaos.checker.verdict import Verdict, judge

START = 1_800_000_000.0
"""When, by the wall clock, the scenes' time 0 is."""


def number(n: int) -> str:
    return UUID(int=n).hex


class Scene:
    """Times are seconds since its start. As it is made, nothing has happened and all is well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history: list[dict[str, Any]] = []
        self.faults: list[dict[str, Any]] = []
        self.rows: dict[str, dict[str, Any]] = {}
        self.transitions: list[dict[str, Any]] = []
        self.attempts: list[dict[str, Any]] = []
        self.queue: dict[str, Any] = {
            place: [] for place in ("ready", "delayed", "leased", "payload", "dead", "exposed")
        }
        self.run: dict[str, Any] = {}
        self.shown: dict[str, str | None] = {}
        self._ops = 0

    def asks(self, marker: str, at: float = 1.0, kind: str = "post", **item: Any) -> str:
        self._ops += 1
        op = f"op-{self._ops}"
        gate = {"gate": item.pop("gate")} if "gate" in item else {}
        if item.get("expect", "deliver") == "deliver":
            item = {"digest": f"of {marker}", "shown": f"masked, of {marker}"} | item
        self._say("invoke", op, kind, at, items=[{"marker": marker, **item}], **gate)
        return op

    def hears(self, op: str, at: float = 1.1, **heard: Any) -> None:
        self._say("ok", op, "post", at, items=[heard])

    def accepted(
        self, marker: str, n: int, at: float = 1.0, durability: str = "full", **item: Any
    ) -> None:
        """A client has a 202 for this text, under the id n."""
        op = self.asks(marker, at, **item)
        heard = {"status": 202, "message_id": str(UUID(int=n)), "durability": durability}
        self.hears(op, at + 0.1, **heard)

    def declined(self, marker: str, at: float = 1.0, **heard: Any) -> None:
        op = self.asks(marker, at)
        self._say("fail", op, "post", at + 0.1, why="declined", heard=heard)

    def unknown(self, marker: str, at: float = 1.0, **item: Any) -> None:
        op = self.asks(marker, at, **item)
        self._say("info", op, "post", at + 10, why="time-out")

    def delivered(self, marker: str | None, n: int, at: float = 1.2, **row: Any) -> None:
        """The ledger took it as it was accepted, and it was delivered at that time."""
        self.row(marker, n, "delivered", delivered_ms=_ms(at), **row)
        self.goes(n, None, "queued", at - 0.1)
        self.goes(n, "queued", "delivered", at)

    def row(self, marker: str | None, n: int, status: str, **given: Any) -> None:
        self.rows[number(n)] = {
            "message_id": number(n),
            "client_id": "example.com:client_001",
            "status": status,
            "reason": None,
            "attempt_count": 1,
            "generation": 0,
            "created_ms": _ms(1.0),
            "queued_ms": _ms(1.0),
            "due_ms": _ms(1.0),
            "delivered_ms": None,
            "expires_ms": _ms(96 * 3600),
            "duplicate_of": None,
            "marker": marker,
            "digest": None if marker is None else f"of {marker}",
        } | given

    def ended(self, marker: str | None, n: int, status: str, **given: Any) -> None:
        """A row that went from queued to its end."""
        self.row(marker, n, status, **given)
        self.goes(n, None, "queued")
        if status != "queued":
            self.goes(n, "queued", status)

    def goes(self, n: int, before: str | None, after: str, at: float = 1.2, **given: Any) -> None:
        self.transitions.append(
            {
                "message_id": number(n),
                "before": before,
                "after": after,
                "attempts_before": 0,
                "attempts": 1,
                "generation_before": 0,
                "generation": 0,
                "at_ms": _ms(at),
            }
            | given
        )

    def retried(self, n: int, at: float) -> None:
        self.attempts.append(
            {
                "message_id": number(n),
                "attempt": 1,
                "started_ms": _ms(at),
                "ended_ms": _ms(at),
                "outcome": "retry",
                "reason": "unstorable",
            }
        )

    def fault(self, name: str, target: str, begin: float, end: float, **more: Any) -> None:
        for kind, at in (("begin", begin), ("end", end)):
            line = {"type": kind, "fault": name, "target": target, **_times(at), **more}
            self.faults.append(line)

    def judge(self) -> Verdict:
        (self.folder / "history").mkdir(exist_ok=True)
        self._write("history/client-1.jsonl", self.history)
        self._write("faults.jsonl", self.faults)
        self._write("ledger.jsonl", list(self.rows.values()))
        self._write("transitions.jsonl", self.transitions)
        self._write("attempts.jsonl", self.attempts)
        self._write("idempotency.jsonl", [])
        shown = [
            {"message_id": one, "digest": digest, "why": "" if digest else "answered 404"}
            for one, digest in self.shown.items()
        ]
        self._write("shown.jsonl", shown)
        redis = {"queues": {"example.com:messages": self.queue}}
        (self.folder / "redis.json").write_text(json.dumps(redis))
        (self.folder / "run.json").write_text(json.dumps(self.run))
        return judge(self.folder)

    def _say(self, what: str, op: str, kind: str, at: float, **more: Any) -> None:
        line = {"type": what, "op": op, "kind": kind, "client": "client-1", **_times(at), **more}
        self.history.append(line)

    def _write(self, name: str, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / name).write_text(text)


def _times(at: float) -> dict[str, Any]:
    return {"mono": int(at * 1e9), "wall": START + at}


def _ms(at: float) -> int:
    return int((START + at) * 1000)
