"""An application of ours on a plain port, in a thread of this process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis

from gatepost.logs import Log
from gatepost.service.live import Live
from gatepost.service.requests import RequestMetrics, Requests
from gatepost.service.serving import serve


@contextmanager
def served(app: Any, redis: Redis | None = None) -> Iterator[str]:
    """What it has opened to Redis meanwhile is closed where it was opened."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    sock.setblocking(False)
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    whole = Requests(app, Log("test", "error"), RequestMetrics(f"test_{uuid4().hex}"))

    async def run() -> None:
        await serve(whole, sock, None, stop, Live(Log("test", "error")))
        if redis is not None:
            await redis.aclose()

    thread = threading.Thread(target=loop.run_until_complete, args=[run()])
    thread.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()
