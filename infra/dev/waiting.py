"""Looks at what waits in a stack, and what is paused by hand: whoever starts the stack is told, and
the stack goes on."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import create_engine

from gatepost.queue import Queues, connect
from infra.dev.configuration import QUEUE
from infra.dev.seed import DOMAIN
from main_server.messages.queues.naming import list_known
from main_server.store.database import transact
from main_server.tenants.pauses.repository import EVERYWHERE, Pause, What, list_pauses


@dataclass(frozen=True)
class Waiting:
    """The pauses and the number of messages that wait; `own` are the queues of the domain that the
    first message belongs to."""

    pauses: Sequence[Pause] = ()
    own: Sequence[str] = ()
    messages: int = 0

    @property
    def takes_nothing_in(self) -> bool:
        """True if a first message would be refused."""
        return any(p.what == What.INTAKE and p.name in (DOMAIN, EVERYWHERE) for p in self.pauses)

    @property
    def delivers_nothing(self) -> bool:
        """True if a first message would wait until somebody resumes its queue."""
        return any(p.what == What.QUEUE and p.name in self.own for p in self.pauses)

    def words(self) -> Iterator[str]:
        """Say what is paused, and how to go on with it, and how much waits."""
        for pause in self.pauses:
            since = f"{pause.since:%Y-%m-%d %H:%M} UTC, by {pause.actor}: {pause.reason}"
            yield f"Paused: {_name(pause)}, since {since}. To go on: {_resume(pause)}"
        what = "message waits" if self.messages == 1 else "messages wait"
        yield f"{self.messages:,} {what}."


def _name(pause: Pause) -> str:
    if pause.what == What.QUEUE:
        return f"the queue {pause.name}"
    return "intake of all domains" if pause.name == EVERYWHERE else f"intake of {pause.name}"


def _resume(pause: Pause) -> str:
    whose = "--all" if pause.name == EVERYWHERE else pause.name
    return f"gatepost {pause.what} resume {whose}"


def look(status: dict[str, Any]) -> Waiting:
    """Ask both stores what waits; no question costs more the more there is."""
    engine = create_engine(status["database"])
    try:
        pauses = transact(engine, list_pauses)
        known = list_known(engine, QUEUE)
    finally:
        engine.dispose()
    messages = asyncio.run(_count(status["redis"], [one.name for one in known]))
    own = [one.name for one in known if DOMAIN in one.domains]
    return Waiting(pauses, own, messages)


async def _count(url: str, names: Sequence[str]) -> int:
    async with connect(url) as redis:
        queues = Queues(redis, QUEUE)
        return sum([(await queues.named(name).stats()).waiting for name in names])
