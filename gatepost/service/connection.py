"""One connection of an HTTP port: how it begins, rests and ends, whoever is at the other side."""

import asyncio
import socket
from functools import partial

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gatepost.service.live import State
from gatepost.service.sockets import reset, shut, taken, untaken
from gatepost.service.turned_away import Bound
from gatepost.service.writing import HIGH_WATER, OneWrite, Patience

FIRST_REQUEST_SECONDS = 20
GOODBYE_SECONDS = 2.0
"""Seconds that we wait for a goodbye: TLS says it in two steps, and not every peer takes the
second. So long we wait, too, for the first request of a peer who came just before it was time to
stop."""
GOODBYE_BYTES = 24
"""The length of a goodbye in TLS 1.3. A peer who has vanished never takes it."""
SETTLED_SECONDS = 0.05
"""Seconds until an empty buffer is looked at again: a loop that was busy may have written nothing
while the kernel's buffer ran empty."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection, which waits for nobody for ever: neither for a first request, nor for a
    goodbye, nor for an answer to be read."""

    server_state: State
    sock: socket.socket | None = None
    """The socket as it was taken: there before the transport is."""
    last = False
    """True if the answer to the next request is the last one on this connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=HIGH_WATER)
        self.transport = OneWrite(transport, self.loop, self._say_goodbye)  # type: ignore[assignment]
        self.patience = Patience(self._taken, self._give_up)
        self.last = self.server_state.live.is_former(transport.get_extra_info("ssl_object"))
        if self.stopping:  # this handshake was under way when the others were told
            self.shutdown()
        self.expect_a_request(FIRST_REQUEST_SECONDS)

    def expect_a_request(self, seconds: float) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self.server_state.live.crowd.leave(self)
        if self.transport is not None:  # else it was cut before it was made
            self.patience.end()
            super().connection_lost(exc)

    @property
    def stopping(self) -> bool:
        return self.server_state.stop.is_set()

    @property
    def at_rest(self) -> bool:
        if self.cycle is None:
            return True
        answered = self.cycle.response_complete and not self.pipeline
        return answered and not self._untaken()

    def _untaken(self) -> int:
        """Return the bytes that we and the kernel still hold for the peer. Between us TLS has a
        buffer that says nothing of itself; the kernel's is full as long as there is something in
        that one."""
        kernel = 0 if self.sock is None else untaken(self.sock)
        return int(self.transport.get_write_buffer_size()) + kernel

    def _taken(self) -> int:
        return 0 if self.sock is None else taken(self.sock)

    def hang_up(self) -> None:
        """End the connection at once; what was not taken of its answers is thrown away."""
        if self.sock is not None:
            reset(self.sock)
        if self.transport is not None:
            self.transport.abort()
        elif self.sock is not None:
            shut(self.sock)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.patience.begin()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.patience.end()

    def _give_up(self) -> None:
        self.server_state.live.turned_away.note(Bound.UNREAD)
        self.hang_up()

    def shutdown(self) -> None:
        """Let the connection end. A peer who has only just come has a request on the way, which
        gets its answer."""
        leave = super().shutdown
        if self.cycle is None:
            self.loop.call_later(GOODBYE_SECONDS, leave)
        else:
            leave()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.server_state.live.crowd.rests(self)

    def _say_goodbye(self) -> None:
        """Make sure that the connection ends, though the peer may not say goodbye.

        A client's pool doesn't look at a connection that it isn't using. It would hold a service
        that stops up until its requests' time is over.
        """
        self.loop.call_later(GOODBYE_SECONDS, self._abort)

    def _abort(self, *, settled: bool = False) -> None:
        """Abort the connection once the answer is taken: a peer who reads slowly is waited for as
        any other is."""
        if self not in self.connections:
            return
        if self._untaken() > GOODBYE_BYTES:
            if not self.patience.begun:
                self.patience.begin()
            self.loop.call_later(GOODBYE_SECONDS, self._abort)
        elif settled:
            self.transport.abort()
        else:
            self.loop.call_later(SETTLED_SECONDS, partial(self._abort, settled=True))
