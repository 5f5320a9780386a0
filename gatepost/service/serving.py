"""HTTP ports: uvicorn with httptools, on a socket that the supervisor bound."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import uvicorn

from gatepost.service.http import BoundedHttp, MutualTls, State

KEEP_ALIVE_SECONDS = 75
DRAIN_SECONDS = 20


class _Server(uvicorn.Server):
    """Leaves the signals alone: the process has one handler for all of its servers and loops."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    app: Any, sock: socket.socket, tls: ssl.SSLContext | None, stop: asyncio.Event
) -> None:
    """Serves until `stop`, then lets requests that have begun finish."""
    config = uvicorn.Config(
        app,
        http=MutualTls if tls else BoundedHttp,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ssl_context_factory=(lambda _config, _default: tls) if tls else None,
    )
    server = _Server(config)
    server.server_state = State(stop)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[sock]))
        waiting = group.create_task(stop.wait())
        await asyncio.wait({serving, waiting}, return_when="FIRST_COMPLETED")
        server.should_exit = True
        await serving
        waiting.cancel()
