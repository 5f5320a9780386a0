"""HTTP connections: uvicorn's, with bounds, and with the certificate of the peer.

uvicorn gives an application no client certificate. `MutualTls` reads it once for each connection
and puts it into the scope under CERTIFICATE; it also bounds what a peer may hold open or send
before any application sees it.
"""

import asyncio
import ssl
import uuid
from collections.abc import Callable
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gatepost.errors import Malformed
from gatepost.identity import Certificate
from gatepost.logs import Log
from gatepost.problem import MEDIA_TYPE, describe
from gatepost.revoked import must_end
from gatepost.tls import Port

CERTIFICATE = "gatepost.certificate"
HEADER_BYTES = 16 * 1024
FIRST_REQUEST_SECONDS = 20
GOODBYE_SECONDS = 2.0
"""TLS says goodbye in two steps: who doesn't take the second is not waited for longer than this.
Nor is the first request of who came just before it was time to stop."""


class OneWrite:
    """A transport that joins what is written in one turn of the loop.

    uvicorn writes the head of an answer and its body apart: two TLS records, two system calls.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


class Live:
    """The connections that a port has open: those of some certificates can be cut."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.connections: set[Any] = set()
        self.port: Port | None = None

    def cut(self, is_out: Callable[[Certificate], bool]) -> None:
        """Without a word, in the middle of a request too: its sender is none of ours any more, or
        nobody can tell."""
        found = [one for one in self.connections if must_end(one.certificate, is_out)]
        for connection in found:
            connection.transport.abort()
        if found:
            whose = {one.certificate.fingerprint for one in found}
            self._log.warning("connections.cut", connections=len(found), certificates=len(whose))

    def renew(self) -> None:
        """Our certificate is another: those that were shown the one before end with their next
        answer, so that nobody is left on it when it is revoked."""
        for connection in self.connections:
            connection.last = True

    def is_former(self, tls: ssl.SSLObject | None) -> bool:
        """Whether this handshake was under way when our certificate became another."""
        return self.port is not None and tls is not None and tls.context is not self.port.current


class State(ServerState):
    """What the connections of a server share: also, whether it is time to stop. `opening` are at
    their handshake."""

    def __init__(self, stop: asyncio.Event, live: Live | None) -> None:
        super().__init__()
        self.stop = stop
        self.live = live
        self.opening: set[Any] = set()
        if live:
            self.connections = live.connections


class BoundedHttp(HttpToolsProtocol):
    """HTTP/1.1 with a limit on headers and on the time that they take.

    The parser hands a header over when it has all of it, so what it still holds is counted as well:
    `unread` is what came since it last handed over anything but headers.
    """

    last = False
    """Whether the answer to the next request is the last one on this connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = OneWrite(transport, self.loop)  # type: ignore[assignment]
        assert isinstance(self.server_state, State)
        self.server_state.opening.discard(self)
        if live := self.server_state.live:
            self.last = live.is_former(transport.get_extra_info("ssl_object"))
        if self._stopping():  # this handshake was under way when the others were told
            self.shutdown()
        self.header_bytes = self.unread = 0
        self.timeout_keep_alive_task = self.loop.call_later(
            FIRST_REQUEST_SECONDS, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        # The timer ends when the headers are complete, not at the first byte: a peer that sends
        # its headers a byte a minute must not be able to stay.
        if self.transport.is_closing():
            return
        self.unread += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # We offer none: the request is served as it is, but what follows can't be parsed.
            self.cycle.keep_alive = False
            self.unread = 0
        except httptools.HttpParserError:
            self._refuse("This is not an HTTP request that can be read.")
            return
        if self.unread > HEADER_BYTES:
            self._refuse(f"The headers may have {HEADER_BYTES} bytes at most.")

    def _refuse(self, why: str) -> None:
        """Not before what came earlier on this connection has had its own answer."""
        earlier = self.cycle
        if earlier and not earlier.more_body and not earlier.response_complete:
            earlier.keep_alive = False
            self.flow.pause_reading()
        else:
            self.send_400_response(why)

    def _stopping(self) -> bool:
        assert isinstance(self.server_state, State)
        return self.server_state.stop.is_set()

    def shutdown(self) -> None:
        """Who has only just come has a request on the way, which gets its answer."""
        if self.cycle is None:
            self.loop.call_later(GOODBYE_SECONDS, self._leave)
        else:
            self._leave()

    def _leave(self) -> None:
        super().shutdown()
        self._hang_up_if_closing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._hang_up_if_closing()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._hang_up_if_closing()

    def _hang_up_if_closing(self) -> None:
        """A client's pool doesn't look at a connection that it isn't using.

        It would hold a service that stops up until its requests' time is over.
        """
        if self.transport.is_closing():
            self.loop.call_later(GOODBYE_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        if self in self.connections:
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.header_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.unread = 0
        self._unset_keepalive_if_required()
        super().on_headers_complete()
        if self._stopping() or self.last:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self.unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.unread = 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self.header_bytes += size
        if self.header_bytes > HEADER_BYTES:
            raise ValueError("too many header bytes")

    def send_400_response(self, msg: str) -> None:
        request_id = str(uuid.uuid4())
        body = describe(Malformed(msg), request_id).body()
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: %b\r\ncontent-length: %d\r\n"
            b"x-request-id: %b\r\nconnection: close\r\n\r\n%b"
            % (MEDIA_TYPE, len(body), request_id.encode(), body)
        )
        self.transport.close()
        self._hang_up_if_closing()


class MutualTls(BoundedHttp):
    """Puts the peer's certificate, as the handshake has verified it, into each request's scope."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        der = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        self.certificate = Certificate(der)
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CERTIFICATE] = self.certificate  # type: ignore[literal-required]
