"""`gatepost message why`: the story as ledger and queue tell it, whichever of them answers."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from gatepost.cli.main import run
from gatepost.contract import Settlement
from gatepost.envelope import encode
from gatepost.errors import NotFound
from gatepost.queue import Entry, Queues, connect
from main_server.database import Ledger
from main_server.reading.story import Story, story_of
from main_server.users.viewer import Viewer
from tests.integration.main_server.conftest import settlement
from tests.integration.main_server.town import SUPER, Town

DEAD_REDIS = "redis://127.0.0.1:1/0"


@pytest.fixture
async def queues(redis_url: str) -> AsyncIterator[Queues]:
    async with connect(redis_url) as redis:
        yield Queues(redis, "message_queue")


async def story(town: Town, queues: Queues, envelope: object, viewer: Viewer | None) -> Story:
    message_id = envelope.message_id  # type: ignore[attr-defined]
    return await story_of(Ledger(town.engine, 1), queues, message_id, viewer, datetime.now(UTC))


async def test_what_is_retried_is_told_from_both_stores(town: Town, queues: Queues) -> None:
    envelope = town.client("a").envelope()
    town.client("a").register(envelope)
    queue = queues.named(None)
    await queue.enqueue([Entry(envelope.message_id.bytes, encode(envelope))])
    (delivery,) = await queue.reserve(1, 30)
    assert (
        "delivering it now: attempt 1"
        in (await story(town, queues, envelope, town.admin())).told.why
    )
    retry = settlement(envelope, 1, Settlement.RETRY, reason="key_unavailable", due_at=1)
    town.client("a").settle(retry)
    await queue.retry_later([(delivery, 30)])
    said = (await story(town, queues, envelope, town.user("a"))).told
    assert "next attempt, which is due in " in said.why
    assert "It was tried once; the last time" in said.why
    assert "a key that it needs can't be used just now" in said.why


async def test_without_redis_the_ledger_is_told_and_what_is_not_known(town: Town) -> None:
    envelope = town.client("a").envelope()
    town.client("a").register(envelope)
    async with connect(DEAD_REDIS) as redis:
        said = await story(town, Queues(redis, "message_queue"), envelope, None)
    assert said.told.why.startswith("The queue does not answer")


async def test_what_is_foreign_has_no_story(town: Town, queues: Queues) -> None:
    envelope = town.client("b").envelope()
    town.client("b").register(envelope)
    stranger = Town(town.engine, town.ring)
    for viewer in (town.user("a"), stranger.admin()):
        with pytest.raises(NotFound):
            await story(town, queues, envelope, viewer)
    assert (await story(town, queues, envelope, SUPER)).row.status == "queued"


def test_the_command_says_it_in_words_and_in_json(
    town: Town,
    database_url: str,
    redis_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (message_id,) = town.send("a", body="CANARY")
    config = tmp_path / "main.yaml"
    tree = {"database": {"url": database_url}, "redis": {"url": redis_url}}
    config.write_text(yaml.safe_dump(tree))
    command = ["message", "why", str(message_id), "--config", str(config)]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"queued     {message_id}\n")
    assert "on its way into the queue" in out
    assert f"Accepted: from {town.domain}:a" in out
    assert run([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["timeline"][-1]["kind"] == "next"
    assert said["why"] in " ".join(out.split())
    assert "CANARY" not in out + json.dumps(said)
    command[2] = str(uuid4())
    assert run(command) == 4
    assert run(["message", "why", "not-an-id"]) == 2
