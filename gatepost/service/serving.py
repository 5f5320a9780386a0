"""HTTP ports: uvicorn with httptools, on a socket that the supervisor bound."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any, cast

import uvicorn

from gatepost.service.acceptor import Acceptor
from gatepost.service.http import BoundedHttp, MutualTls
from gatepost.service.live import Live, State

KEEP_ALIVE_SECONDS = 75
DRAIN_SECONDS = 20
OPENING_SECONDS = 1.0
"""Seconds for which a handshake that is under way holds a stop up."""


class _Server(uvicorn.Server):
    """uvicorn's server, which bounds handshakes here and leaves the signals alone: the process has
    one handler for all."""

    server_state: State

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, with a limit on handshakes: whoever says nothing must not stay."""
        crowd, tls = self.server_state.live.crowd, self.config.ssl
        self.acceptors = [Acceptor(sock, tls, crowd, self._protocol) for sock in sockets or []]
        for acceptor in self.acceptors:
            acceptor.start()
        self.servers = cast(Any, self.acceptors)
        self.started = True

    def _protocol(self) -> BoundedHttp:
        protocol: Any = self.config.http_protocol_class
        made: BoundedHttp = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down as uvicorn does, once the connections that were taken are through their
        handshakes."""
        for acceptor in self.acceptors:
            acceptor.close()
        if opening := [task for acceptor in self.acceptors for task in acceptor.opening]:
            await asyncio.wait(opening, timeout=OPENING_SECONDS)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    app: Any,
    sock: socket.socket,
    tls: ssl.SSLContext | None,
    stop: asyncio.Event,
    live: Live,
) -> None:
    """Serve until `stop`, then let requests that have begun finish. `live` can cut them, and has
    the bounds of the port."""
    config = uvicorn.Config(
        app,
        http=MutualTls if tls and tls.verify_mode is ssl.CERT_REQUIRED else BoundedHttp,
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
    server.server_state = State(stop, live)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[sock]))
        waiting = group.create_task(stop.wait())
        await asyncio.wait({serving, waiting}, return_when="FIRST_COMPLETED")
        server.should_exit = True
        await serving
        waiting.cancel()
