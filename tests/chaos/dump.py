"""What is left at the end of a run, as files for the checker: every row, every change of a row, and
whatever is still in Redis.

This is the harness's one place that opens messages, with the run's own keys: the checker needs the
marker in a body to know whose a row is that nobody was told about.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import redis
from pydantic import SecretStr
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from gatepost.clock import to_ms
from gatepost.config.settings import load
from gatepost.errors import CannotOpen, KeysUnavailable
from gatepost.queue.keys import READY_LISTS
from gatepost.queue.wire import payload_of
from gatepost.wire.content import Content, decode_content
from gatepost.wire.envelope import decode
from main_server.keys.master import MasterKeys, read_master_keys
from main_server.keys.service import Keyring, open_keyring
from main_server.settings import Database, MainServerSettings
from main_server.store.database import create_ledger_engine, transact
from tests.chaos.digests import Digests
from tests.chaos.persisting import persist
from tests.chaos.shown import Portal, sample

PAGE = 5_000
PATIENCE_SECONDS = 120.0
_ROWS = (
    "SELECT message_id, client_id, domain, status, reason, attempt_count, generation, created_at,"
    " queued_at, due_at, delivered_at, expires_at, duplicate_of, key_id, encrypted_body"
    " FROM messages"
    " WHERE message_id > :after ORDER BY message_id LIMIT :page"
)
_TIMES = ("created_at", "queued_at", "due_at", "delivered_at", "expires_at")


@dataclass(frozen=True)
class Remains:
    """The stores of a run, asked straight, as somebody who may do everything."""

    database_url: str
    redis_url: str
    main_server_config: Path
    digests: Digests
    portal: Portal

    @classmethod
    def of_site(cls, site: Path) -> "Remains":
        """By the `site.json` of a run."""
        about = json.loads(site.read_text())
        return cls(
            about["database"],
            about["redis"],
            Path(about["main_server_config"]),
            Digests(about["digest_key"]),
            Portal(**about["portal"]),
        )

    @cached_property
    def engine(self) -> Engine:
        schema = load(MainServerSettings, self.main_server_config).database.keys_schema
        return create_ledger_engine(Database(url=SecretStr(self.database_url), keys_schema=schema))

    @cached_property
    def queue_server(self) -> redis.Redis:
        return redis.Redis.from_url(self.redis_url)

    def waiting(self) -> int:
        """How many messages have not ended yet, by the store that knows of more."""
        rows = self._count("SELECT COUNT(*) FROM messages WHERE status = 'queued'")
        return max(rows, sum(self._known(name) for name in self._queues()))

    def delivered(self) -> int:
        return self._count("SELECT COUNT(*) FROM messages WHERE status = 'delivered'")

    def write(self, folder: Path) -> None:
        """All of it, as soon as both stores and the portal's API can be asked."""
        away = SQLAlchemyError, redis.RedisError, KeysUnavailable
        persist("dumping both stores", lambda: self._write_stores(folder), PATIENCE_SECONDS, away)
        _write(folder / "shown.jsonl", self.portal.shown(self._sample(), self.digests))

    def _write_stores(self, folder: Path) -> None:
        """Redis first: what moves on meanwhile is then seen in the ledger, if not in both."""
        keyring = self._keyring()
        left = {name: self._left(keyring, name) for name in self._queues()}
        (folder / "redis.json").write_text(json.dumps({"queues": left}))
        _write(folder / "ledger.jsonl", self._rows(keyring))
        _write(folder / "transitions.jsonl", self._transitions())
        _write(folder / "attempts.jsonl", self._attempts())
        _write(folder / "idempotency.jsonl", self._idempotency())

    def close(self) -> None:
        self.engine.dispose()
        self.queue_server.close()

    def _keyring(self) -> Keyring:
        file = load(MainServerSettings, self.main_server_config).keys.master_key_file
        return open_keyring(self.engine, MasterKeys(partial(read_master_keys, file)))

    def _rows(self, keyring: Keyring) -> Iterator[dict[str, Any]]:
        after = b""
        while rows := self._ask(_ROWS, after=after, page=PAGE):
            for row in rows:
                yield _row(row) | self._said(keyring, row)
            after = rows[-1]["message_id"]

    def _said(self, keyring: Keyring, row: dict[str, Any]) -> dict[str, str | None]:
        """Whose text a row holds, and its digest; nothing of one that can't be opened."""
        if row["encrypted_body"] is None:
            return {"marker": None, "digest": None}
        message_id = UUID(bytes=row["message_id"])
        names = row["client_id"], row["domain"], row["key_id"], row["encrypted_body"]
        try:
            content = decode_content(keyring.open_row(self.engine, message_id, *names))
        except (CannotOpen, KeysUnavailable, msgspec.MsgspecError):
            return {"marker": None, "digest": None}
        digest = self.digests.of(content.sender_number, content.message_body)
        return {"marker": _marker(content), "digest": digest}

    def _sample(self) -> Sequence[str]:
        rows = self._ask("SELECT message_id FROM messages WHERE status = 'delivered'")
        return sample(row["message_id"].hex() for row in rows)

    def _transitions(self) -> Iterator[dict[str, Any]]:
        for row in self._ask("SELECT * FROM chaos_transitions ORDER BY n"):
            yield {
                "message_id": row["message_id"].hex(),
                "before": row["old_status"],
                "after": row["new_status"],
                "attempts_before": row["old_attempts"] or 0,
                "attempts": row["new_attempts"],
                "generation_before": row["old_generation"] or 0,
                "generation": row["new_generation"],
                "at_ms": to_ms(row["at"]),
            }

    def _attempts(self) -> Iterator[dict[str, Any]]:
        for row in self._ask("SELECT * FROM attempts ORDER BY message_id, attempt"):
            yield {
                "message_id": row["message_id"].hex(),
                "attempt": row["attempt"],
                "started_ms": to_ms(row["started_at"]),
                "ended_ms": to_ms(row["ended_at"]),
                "outcome": row["outcome"],
                "reason": row["reason"],
            }

    def _idempotency(self) -> Iterator[dict[str, Any]]:
        for row in self._ask("SELECT * FROM idempotency"):
            yield {
                "client_id": row["client_id"],
                "key_mac": row["key_mac"].hex(),
                "message_id": row["message_id"].hex(),
            }

    def _queues(self) -> list[str]:
        """The partitions of queues that Redis knows anything of, by the hash tag of their keys."""
        keys = self.queue_server.scan_iter(match="{*}:*", count=1000)
        return sorted({key.decode().partition("}")[0][1:] for key in keys})

    def _known(self, queue: str) -> int:
        known: Any = self.queue_server.hlen(f"{{{queue}}}:payload")
        return int(known)

    def _left(self, keyring: Keyring, queue: str) -> dict[str, Any]:
        server: Any = self.queue_server
        bodies: dict[bytes, bytes] = server.hgetall(f"{{{queue}}}:payload")
        ready = [one for n in READY_LISTS for one in server.lrange(f"{{{queue}}}:ready:{n}", 0, -1)]
        places = {
            "payload": list(bodies),
            "ready": [one for one in ready if one in bodies],  # the others are ghosts
            "delayed": server.zrange(f"{{{queue}}}:delayed", 0, -1),
            "leased": server.zrange(f"{{{queue}}}:leased", 0, -1),
            "dead": server.zrange(f"{{{queue}}}:dead", 0, -1),
            "exposed": list(server.smembers(f"{{{queue}}}:exposed")),
        }
        found: dict[str, Any] = {name: [one.hex() for one in ids] for name, ids in places.items()}
        return found | {"markers": _markers(keyring, bodies)}

    def _count(self, query: str) -> int:
        return int(transact(self.engine, lambda c: c.scalar(text(query))) or 0)

    def _ask(self, query: str, **values: Any) -> list[dict[str, Any]]:
        def run(connection: Any) -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(text(query), values).mappings()]

        return transact(self.engine, run)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    plain = ("client_id", "status", "reason", "attempt_count", "generation")
    times = {f"{name.removesuffix('_at')}_ms": _ms(row[name]) for name in _TIMES}
    original = row["duplicate_of"]
    return {
        "message_id": row["message_id"].hex(),
        **{name: row[name] for name in plain},
        **times,
        "duplicate_of": original.hex() if original else None,
    }


def _ms(moment: Any) -> int | None:
    return None if moment is None else to_ms(moment)


def _markers(keyring: Keyring, bodies: dict[bytes, bytes]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for message_id, body in bodies.items():
        try:
            content = keyring.open_envelope(decode(payload_of(body)))
            found[message_id.hex()] = _marker(decode_content(content))
        except (CannotOpen, KeysUnavailable, msgspec.MsgspecError):
            found[message_id.hex()] = None
    return found


def _marker(content: Content) -> str:
    """The workload begins each body with it."""
    return content.message_body.split(" ", 1)[0]


def _write(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8") as stream:
        for line in lines:
            stream.write(json.dumps(line, separators=(",", ":")) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.dump")
    parser.add_argument("site", type=Path, help="the site.json of a run that is at rest")
    parser.add_argument("folder", type=Path, help="where the files go")
    arguments = parser.parse_args()
    remains = Remains.of_site(arguments.site)
    try:
        remains.write(arguments.folder)
    finally:
        remains.close()


if __name__ == "__main__":
    main()
