"""`gatepost queue …` on a ledger and a Redis: what is meant by a domain's name, by whose clock, and
that what is said afterwards is what was done."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from pydantic import SecretStr
from sqlalchemy import Engine

from gatepost.cli.main import run
from gatepost.queue import Entry, Queues, connect
from gatepost.wire.envelope import encode
from main_server.commands import intake as pausing
from main_server.commands.queue import purging
from main_server.keys.repository import read_time
from main_server.keys.service import Keyring
from main_server.store.database import transact
from main_server.store.tables import pauses
from tests.integration.main_server.town import Town, found_town

WHY = ("--reason", "the database is being moved")


@dataclass
class Shell:
    """Of a gateway whose shared queue no other test knows."""

    town: Town
    config: Path
    redis_url: str
    capsys: pytest.CaptureFixture[str]
    shared: str = field(default_factory=lambda: f"s{uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        database = {"url": self.town.engine.url.render_as_string(hide_password=False)}
        redis = {"url": self.redis_url, "queue_name": self.shared}
        self.config.write_text(yaml.safe_dump({"database": database, "redis": redis}))

    def says(self, *words: str, code: int = 0) -> str:
        self.capsys.readouterr()
        assert run([*words, "--config", str(self.config)]) == code
        said = self.capsys.readouterr()
        return said.err if code else said.out

    def told(self, *words: str) -> Any:
        (line,) = self.says(*words, "--json").splitlines()
        return json.loads(line)

    def paused(self) -> list[str]:
        names = (self.shared, f"{self.town.domain}:messages")
        rows = transact(self.town.engine, lambda c: c.execute(pauses.select()).all())
        return sorted(row.name for row in rows if row.name in names)

    async def expose(self, *towns: Town) -> None:
        """Redis alone has a message of each."""
        async with connect(self.redis_url) as redis:
            queue = Queues(redis, self.shared).named(None)
            for town in towns:
                one = town.client("a").envelope(queue=self.shared)
                entry = Entry(id=one.message_id.bytes, payload=encode(one), exposed=True)
                await queue.enqueue([entry])


@pytest.fixture
def shell(
    engine: Engine,
    ring: Keyring,
    redis_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Shell]:
    shell = Shell(found_town(engine, ring), tmp_path / "main_server.yaml", redis_url, capsys)
    yield shell
    transact(engine, lambda c: c.execute(pauses.delete()))


def test_a_domains_pause_is_refused_while_it_would_not_hold_for_all_its_messages(
    shell: Shell,
) -> None:
    """Some wait in the queue that it shared before, which can't be paused for it alone."""
    town, own = shell.town, f"{shell.town.domain}:messages"
    (left,) = town.send(queue=shell.shared)
    town.own_queue(own)
    town.send(queue=own)
    assert shell.shared in shell.says("queue", "pause", town.domain, *WHY, code=3)
    assert shell.paused() == []
    shell.says("queue", "pause", shell.shared, *WHY)
    shell.says("queue", "pause", town.domain, *WHY)
    assert shell.paused() == sorted([shell.shared, own])
    for name in (shell.shared, town.domain):
        shell.says("queue", "resume", name)
    town.client("a").force(left, status="delivered")
    shell.says("queue", "pause", town.domain, *WHY)
    assert shell.paused() == [own]


def test_a_star_is_no_domain(shell: Shell) -> None:
    for words in (("pause", "*", *WHY, "--yes"), ("resume", "*")):
        assert "--all" in shell.says("intake", *words, code=2)


def test_nothing_that_waits_is_discarded_by_the_shells_clock(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ids are made by the clock of the gateway."""
    shell.town.send(queue=shell.shared)
    purge = ("queue", "purge", shell.town.domain, *WHY, "--dry-run")
    assert shell.told(*purge)["expected"] == 1
    monkeypatch.setattr(pausing, "read_time", lambda c: read_time(c) - timedelta(hours=1))
    assert shell.told(*purge)["expected"] == 0


@pytest.mark.parametrize("end", ["delivered", "failed", "gone"])
def test_what_ended_before_it_could_be_discarded_is_said(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    first, *others = shell.town.send(count=3, queue=shell.shared)

    def meanwhile(*_: Any, **__: Any) -> None:
        shell.town.client("a").force(first, status="erased" if end == "gone" else end)

    monkeypatch.setattr(purging, "confirm", meanwhile)
    purge = ("queue", "purge", shell.town.domain, *WHY)
    done = {"discarded": 2, "had_ended": 1, "expected": 3, "redis_not_told_of": 0, "exposed": 0}
    assert shell.told(*purge) == done
    assert states(shell.town, others) == [("failed", "discarded")] * 2
    nothing = {"discarded": 0, "had_ended": 0, "expected": 0}
    assert shell.told(*purge) == done | nothing
    assert "Nothing waits there" in shell.says(*purge)


def test_of_what_redis_has_alone_only_what_is_meant_is_said(shell: Shell) -> None:
    other = found_town(shell.town.engine, shell.town.ring)
    asyncio.run(shell.expose(shell.town, other, other))
    for name, exposed in ((shell.town.domain, 1), (other.domain, 2), (shell.shared, 3)):
        assert shell.told("queue", "purge", name, *WHY)["exposed"] == exposed
    mine = ("--client", f"{other.domain}:b")
    assert shell.told("queue", "purge", other.domain, *mine, *WHY)["exposed"] == 0


def test_with_redis_away_what_was_discarded_is_said_all_the_same(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = shell.town.send(queue=shell.shared)
    forget = purging._forget

    def then_away(*given: Any) -> bool:
        forgotten = forget(*given)
        object.__setattr__(given[0].redis, "url", SecretStr("redis://127.0.0.1:1"))
        return forgotten

    monkeypatch.setattr(purging, "_forget", then_away)
    said = shell.told("queue", "purge", shell.town.domain, *WHY, "--yes")
    assert (said["discarded"], said["exposed"]) == (1, None)
    assert states(shell.town, [one]) == [("failed", "discarded")]


def states(town: Town, ids: list[UUID]) -> list[tuple[str, str | None]]:
    return [town.client("a").status(one)[:2] for one in ids]
