"""Takes the connections of a listening socket, one in each turn of the loop: those that are open
already go first, and one for which there is no room costs no handshake."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

from gatepost.service.crowd import Crowd
from gatepost.service.http import BoundedHttp
from gatepost.service.sockets import reset

HANDSHAKE_SECONDS = 5
SHUTDOWN_SECONDS = 120
"""Seconds that TLS by itself waits for the rest of an answer to be taken: a connection that we
close looks after that, and ends sooner."""
NO_FILES_SECONDS = 0.5
"""Seconds for which no connection is taken when there are no more files to be had."""


class Acceptor:
    """An acceptor that uvicorn takes for a server of the event loop."""

    def __init__(
        self,
        sock: socket.socket,
        tls: ssl.SSLContext | None,
        crowd: Crowd,
        make: Callable[[], BoundedHttp],
    ) -> None:
        self._sock = sock
        self._options: dict[str, Any] = (
            {
                "ssl": tls,
                "ssl_handshake_timeout": HANDSHAKE_SECONDS,
                "ssl_shutdown_timeout": SHUTDOWN_SECONDS,
            }
            if tls
            else {}
        )
        self._crowd = crowd
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._again: asyncio.TimerHandle | None = None
        self.opening: dict[asyncio.Task[None], BoundedHttp] = {}
        """The connections at their handshake, by the tasks that open them."""

    def start(self) -> None:
        self._loop.add_reader(self._sock, self._take)

    def close(self) -> None:
        """Let in whoever has called by now, and stop listening. It may be called again."""
        if self._sock.fileno() < 0:
            return
        self._loop.remove_reader(self._sock)
        while self._take():
            pass
        if self._again is not None:
            self._again.cancel()
        self._sock.close()

    async def wait_closed(self) -> None:
        """Hang up on every connection that is still at its handshake, and wait until none is
        left."""
        for made in self.opening.values():
            made.hang_up()
        if self.opening:
            await asyncio.wait(self.opening)

    def _take(self) -> bool:
        """Take a connection; return whether there was one."""
        try:
            sock, address = self._sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False  # another process was faster, or who called has gone
        except OSError:
            self._loop.remove_reader(self._sock)
            self._again = self._loop.call_later(NO_FILES_SECONDS, self.start)
            return False
        sock.setblocking(False)
        made = self._make()
        if not self._crowd.enter(made, address[0]):
            reset(sock)
            sock.close()
            return True
        made.sock = sock
        task = self._loop.create_task(self._open(made, sock))
        self.opening[task] = made
        task.add_done_callback(self.opening.pop)
        return True

    async def _open(self, made: BoundedHttp, sock: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: made, sock, **self._options)
        except Exception:  # the port has said why; and no peer may end more than his own connection
            self._crowd.leave(made)
            sock.close()
