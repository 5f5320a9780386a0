"""The work of `gatepost message why`, and what it prints."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import msgspec
from sqlalchemy.exc import OperationalError

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.cli.words import COLOURS, ago
from gatepost.config.settings import load
from gatepost.queue import Queues, connect
from main_server.commands.failures import in_words
from main_server.messages.reading.documents import message_document
from main_server.messages.reading.story import Story, story_in_queue, story_of
from main_server.messages.reading.timeline import Kind, Step
from main_server.settings import StoresOnly
from main_server.store.database import Ledger, open_ledger

_LOOK = "Neither the ledger nor a queue has a message of this id."
_LOOK_FURTHER = "The ledger does not answer: name the queue of its domain with --queue."
_STYLES = {Kind.DONE: "", Kind.TROUBLE: "yellow", Kind.NEXT: "dim"}


def why(config: Path | None, message_id: str, queues: Sequence[str], *, json: bool) -> None:
    output = Output(json=json)
    now = datetime.now(UTC)
    with in_words(_LOOK):
        story = asyncio.run(_ask(load(StoresOnly, config), UUID(message_id), queues, now))
    if json:
        output.result(msgspec.to_builtins(message_document(story)))
    else:
        _say(output, story, now)


async def _ask(
    settings: StoresOnly, message_id: UUID, names: Sequence[str], now: datetime
) -> Story:
    with open_ledger(settings.database) as engine:
        async with connect(settings.redis.address()) as redis:
            queues = Queues(redis, settings.redis.queue_name)
            try:
                return await story_of(Ledger(engine, 1), queues, message_id, None, now)
            except OperationalError:
                return await _ask_queues(queues, [None, *names], message_id, now)


async def _ask_queues(
    queues: Queues, names: Sequence[str | None], message_id: UUID, now: datetime
) -> Story:
    """Ask the queues alone: while the ledger is away it can't say which queues there are,
    either."""
    story = await story_in_queue(queues, names, message_id, None, now, ledger_answers=False)
    if story is None:
        raise Failure(
            "unavailable", "The queues that were looked into haven't got it.", _LOOK_FURTHER
        )
    return story


def _say(output: Output, story: Story, now: datetime) -> None:
    row = story.row
    output.say((f"{row.status:<11}", COLOURS.get(row.status, "")), str(UUID(bytes=row.message_id)))
    output.say(f"{'':<11}{story.told.why}")
    for step in story.told.steps:
        output.say(f"{'':<11}", (_line(step, now), _STYLES[step.kind]))


def _line(step: Step, now: datetime) -> str:
    at = f"{step.at:%Y-%m-%d %H:%M:%S} UTC" if step.at else ""
    passed = f"  ({ago(step.at.replace(tzinfo=UTC), now)})" if step.at else ""
    more = f": {step.more}" if step.more else ""
    return f"{at:<24}{step.what}{more}{passed}"
