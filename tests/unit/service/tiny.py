"""A tiny service, run as a process of its own: what a supervisor keeps alive, misbehaving at will.

`python -m tests.unit.service.tiny --config FILE`; the times are short.
"""

import asyncio
import gc
import json
import os
import time
from functools import partial
from pathlib import Path

from prometheus_client import Counter, Gauge

from gatepost.config.settings import Listen, Server, ServiceSettings
from gatepost.errors import ConfigurationError
from gatepost.service import entry, supervisor
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.live import Live
from gatepost.service.ops import Checks, helpful, needed
from gatepost.service.serving import serve
from gatepost.service.supervisor import Child


class TinySettings(ServiceSettings):
    server: Server
    ops: Listen
    die_at_start: bool = False
    never_stop: bool = False
    problem: str | None = None
    note: str | None = None
    files: list[Path] = []  # noqa: RUF012 - pydantic copies it


async def main(settings: TinySettings, child: Child) -> None:
    if settings.die_at_start:
        raise ValueError("CANARY-7f3a: what must not be logged")
    asked = Counter("tiny_asked", "Requests")
    Gauge("tiny_alive", "Processes", multiprocess_mode="livesum").inc()
    crash = asyncio.Event()

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        asked.inc()
        child.log.debug("tiny.asked")
        misbehave(scope["path"], crash)
        if scope["path"] == "/slow":
            child.log.info("slow.begun")
            await asyncio.sleep(0.5)
        said = {"pid": os.getpid(), "frozen": gc.get_freeze_count()}
        await respond(send, 200, json.dumps(said).encode())

    async def crash_loop() -> None:
        await crash.wait()
        raise ValueError("CANARY-7f3a: what must not be logged")

    async with asyncio.TaskGroup() as loops:
        crashing = loops.create_task(crash_loop())
        loops.create_task(child.heart_loop(lambda: checks(settings)))
        await serve(app, child.listeners[0], None, child.stop, Live(child.log))
        crashing.cancel()
        if settings.never_stop:
            loops.create_task(asyncio.sleep(60))


def checks(settings: TinySettings) -> Checks:
    return {"thing": needed(settings.problem), "other": helpful(settings.note)}


def read(file: Path) -> None:
    if not file.exists():
        raise ConfigurationError(f"{file} is not there")


def misbehave(path: str, crash: asyncio.Event) -> None:
    if path == "/exit":
        os._exit(3)
    if path == "/raise":
        crash.set()
    if path == "/stuck":
        time.sleep(60)


if __name__ == "__main__":
    supervisor.HEARTBEAT_SECONDS = 0.1
    supervisor.LATE_AFTER_SECONDS = 0.4
    supervisor.STUCK_AFTER_SECONDS = float(os.environ.get("STUCK_AFTER", "1.0"))
    supervisor.SUCCESSION_SECONDS = 10.0
    supervisor.GRACE_SECONDS = 1.5
    entry.run(
        entry.Service(
            name="tiny",
            settings=TinySettings,
            processes=lambda settings: settings.server.workers,
            ports=lambda settings: [settings.server],
            ops=lambda settings: settings.ops,
            files=lambda settings: [partial(read, file) for file in settings.files],
            child=main,
        )
    )
