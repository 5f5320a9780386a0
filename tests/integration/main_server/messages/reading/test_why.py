"""`gatepost message why`: the story as ledger and queue tell it, whichever of them answers."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from gatepost.cli.main import run
from gatepost.errors import NotFound, Unavailable
from gatepost.queue import Entry, Queues, connect
from gatepost.wire.contract import Settlement
from gatepost.wire.envelope import Envelope, encode
from main_server.messages.reading.documents import message_document
from main_server.messages.reading.story import Story, story_of
from main_server.people.users.viewer import Viewer
from main_server.store.database import Ledger
from main_server.tenants.pauses import service as pauses
from main_server.tenants.pauses.repository import What
from main_server.tenants.pauses.service import Order
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
    assert "Neither the ledger nor a queue" in capsys.readouterr().err
    assert run(["message", "why", "not-an-id"]) == 2


async def waits(queues: Queues, envelope: Envelope, name: str | None = None) -> None:
    entry = Entry(envelope.message_id.bytes, encode(envelope), exposed=True)
    await queues.named(name).enqueue([entry])


async def test_what_only_the_queue_has_is_told_to_whose_it_is(town: Town, queues: Queues) -> None:
    envelope = town.client("a").envelope()
    await waits(queues, envelope)
    for viewer in (town.user("a"), town.admin(), SUPER, None):
        said = await story(town, queues, envelope, viewer)
        assert not said.registered
        assert said.row.client_id == f"{town.domain}:a"
        assert said.told.why.startswith("It is accepted and kept by the queue; the ledger takes")
        assert "waits for the next free worker" in said.told.why
        accepted = said.told.steps[0]
        assert "the ledger hasn't got it yet" in accepted.more
    document = message_document(said)
    assert (document.status, document.registered, document.readable) == ("queued", False, False)
    for viewer in (town.user("b"), Town(town.engine, town.ring).admin()):
        with pytest.raises(NotFound) as foreign:
            await story(town, queues, envelope, viewer)
        with pytest.raises(NotFound) as nothing:
            await story(town, queues, town.client("a").envelope(), viewer)
        assert str(foreign.value) == str(nothing.value)


async def test_the_queue_of_its_domain_is_looked_into(town: Town, queues: Queues) -> None:
    name = f"{town.domain}:messages"
    town.own_queue(name)
    envelope = town.client("a").envelope(queue=name)
    await waits(queues, envelope, name)
    assert (await story(town, queues, envelope, town.user("a"))).row.queue == name
    assert (await story(town, queues, envelope, None)).row.queue == name
    with pytest.raises(NotFound):
        await story(town, queues, envelope, Town(town.engine, town.ring).admin())


async def test_what_should_be_in_the_ledger_by_now_says_so(town: Town, queues: Queues) -> None:
    envelope = town.client("a").envelope()
    await waits(queues, envelope)
    later = datetime.now(UTC) + timedelta(seconds=20)
    said = await story_of(Ledger(town.engine, 1), queues, envelope.message_id, None, later)
    assert "should have taken it over by now" in said.told.why


async def test_nobody_is_told_that_it_is_not_there_by_one_of_both_alone(town: Town) -> None:
    """And a foreign one is answered in the same way."""
    foreign = town.client("b").envelope()
    town.client("b").register(foreign)
    async with connect(DEAD_REDIS) as redis:
        queues = Queues(redis, "message_queue")
        for envelope in (town.client("a").envelope(), foreign):
            with pytest.raises(Unavailable):
                await story(town, queues, envelope, town.user("a"))


async def test_what_cannot_be_read_is_nobodys(town: Town, queues: Queues) -> None:
    envelope = town.client("a").envelope()
    await queues.named(None).enqueue([Entry(envelope.message_id.bytes, b"\xff")])
    with pytest.raises(NotFound):
        await story(town, queues, envelope, SUPER)


async def test_the_command_tells_it_while_the_ledger_is_down(
    town: Town, queues: Queues, redis_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{town.domain}:messages"
    envelope = town.client("a").envelope(queue=name)
    await waits(queues, envelope, name)
    config = tmp_path / "main.yaml"
    dead = "mysql+pymysql://u:p@127.0.0.1:1/gatepost"
    config.write_text(yaml.safe_dump({"database": {"url": dead}, "redis": {"url": redis_url}}))
    command = ["message", "why", str(envelope.message_id), "--config", str(config)]
    assert await asyncio.to_thread(run, command) == 5
    assert "name the queue of its domain with --queue" in capsys.readouterr().err
    assert await asyncio.to_thread(run, [*command, "--queue", name]) == 0
    out = capsys.readouterr().out
    assert out.split()[:2] == ["unknown", str(envelope.message_id)]
    assert "nobody can know whether it has been delivered" in " ".join(out.split())
    assert "Accepted: from" in out


async def test_who_shares_a_paused_queue_hears_since_when_and_no_more(
    town: Town, queues: Queues
) -> None:
    """By whom and why is for those who run the place (I12)."""
    envelope = town.client("a").envelope()
    town.client("a").register(envelope)
    await waits(queues, envelope)
    order = Order("shell:ann", "b.example is on fire", datetime.now(UTC))
    pauses.pause(town.engine, What.QUEUE, {"message_queue": None}, order)
    try:
        for viewer in (town.user("a"), town.admin(), SUPER, None):
            why = (await story(town, queues, envelope, viewer)).told.why
            assert why.startswith("Its queue is paused since ")
            whole = viewer in (SUPER, None)
            assert ("by ann at a shell, “b.example is on fire”" in why) == whole
            assert ("fire" in why) == whole
    finally:
        pauses.resume(town.engine, What.QUEUE, {"message_queue": None}, order)
