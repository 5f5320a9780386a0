"""HTTP ports: uvicorn with httptools, on a socket that the supervisor bound."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import uvicorn

from gatepost.service.http import BoundedHttp, Live, MutualTls, State

HANDSHAKE_SECONDS = 5
KEEP_ALIVE_SECONDS = 75
DRAIN_SECONDS = 20
OPENING_SECONDS = 1.0
"""So long a handshake that is under way holds a stop up."""


class _Server(uvicorn.Server):
    """Bounds handshakes, and leaves the signals alone: the process has one handler for all."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, with a limit on handshakes: whoever says nothing must not stay."""
        loop = asyncio.get_running_loop()
        config = self.config
        limits: dict[str, Any] = {"ssl_handshake_timeout": HANDSHAKE_SECONDS} if config.ssl else {}
        self.servers = [
            await loop.create_server(self._protocol, sock=sock, ssl=config.ssl, **limits)
            for sock in sockets or []
        ]
        self.started = True

    def _protocol(self) -> asyncio.Protocol:
        protocol: Any = self.config.http_protocol_class
        made: asyncio.Protocol = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        assert isinstance(self.server_state, State)
        opening = self.server_state.opening
        opening.add(made)
        asyncio.get_running_loop().call_later(OPENING_SECONDS, opening.discard, made)
        return made

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, once those who were let in have come through the door."""
        assert isinstance(self.server_state, State)
        for server in self.servers:
            server.close()
        if self.server_state.opening:
            await asyncio.sleep(OPENING_SECONDS)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    app: Any,
    sock: socket.socket,
    tls: ssl.SSLContext | None,
    stop: asyncio.Event,
    live: Live | None = None,
) -> None:
    """Serves until `stop`, then lets requests that have begun finish. `live` can cut them."""
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
