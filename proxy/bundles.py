"""The bundle, which is asked for all the time and kept on disk, so that a proxy starts without the
main server.

The file holds no secret that opens anything, and is written whole or not at all.
"""

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec

from gatepost.clock import Clock
from gatepost.errors import ConfigurationError
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.service.redis import RedisWatch
from gatepost.whole_file import replace_file
from gatepost.wire.bundle import TIME_HEADER, Bundle, decode_bundle
from proxy.senders import Senders

REFRESH_SECONDS = 0.75
"""The seconds between two requests: what is told with the bundle, such as that intake is paused, is
known within a second."""
_TIME = re.compile(r"\A[0-9]{1,14}\Z")


class BundleCache:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "bundle.json"

    def read(self) -> Bundle | None:
        """Return the last bundle that was kept; None if there is none that can be read."""
        try:
            return decode_bundle(self._file.read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, data: bytes) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self._file, data)


async def bundle_loop(
    stop: asyncio.Event,
    log: Log,
    main_server: httpx.AsyncClient,
    senders: Senders,
    cache: BundleCache,
    watch: RedisWatch,
    clock: Clock,
    answers: Callable[[], None] = lambda: None,
) -> None:
    """Ask for the bundle again and again; the main server answers 304 as long as nothing has
    changed.

    Each answer carries the main server's time, which sets our clock while Redis is silent;
    `answers` is called with each.
    """
    if kept := cache.read():
        senders.learn(kept)
    etag, missed = "", None
    while not stop.is_set():
        problem = None
        try:
            asked, started = time.monotonic(), time.perf_counter()
            answer = await main_server.get("/internal/bundle", headers={"if-none-match": etag})
            told = answer.headers.get(TIME_HEADER, "")
            if (watch.problem or not clock.known) and _TIME.match(told):
                took_ms = (time.perf_counter() - started) * 1000
                clock.correct(int(told), took_ms)
            if answer.status_code == 200:
                senders.learn(decode_bundle(answer.content))
                cache.write(answer.content)
                etag = answer.headers.get("etag", "")  # learned and kept: not before that
                log.info("bundle.learned", etag=etag)
            if answer.status_code in (200, 304):
                senders.confirm(asked)
                answers()
            else:
                problem = f"the main server answers with status {answer.status_code}"
        except (httpx.HTTPError, msgspec.MsgspecError, OSError, ConfigurationError) as error:
            problem = type(error).__name__
        if problem and problem != missed:
            log.warning("bundle.missed", reason=problem)
        missed = problem
        await pause(stop, REFRESH_SECONDS)
