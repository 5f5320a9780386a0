"""HTTP connections: uvicorn's, with bounds, and with the certificate of the peer.

uvicorn gives an application no client certificate. `MutualTls` reads it once for each connection
and puts it into the scope under CERTIFICATE. What a peer may hold open or send is bounded before
any application sees it; what is refused here is handed to the application all the same, under
REFUSAL, so that each refusal has its answer, its event and its count where all others have theirs.
"""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gatepost.errors import BadIdentity, GatepostError, Malformed, TooMuchAtOnce
from gatepost.service.asgi import REFUSAL
from gatepost.service.connection import Connection
from gatepost.service.crowd import OF_A_CLIENT, OF_A_SERVICE
from gatepost.service.heads import objection
from gatepost.trust.identity import Certificate, Role

CERTIFICATE = "gatepost.certificate"
HEADER_BYTES = 16 * 1024
REFUSED_SECONDS = 2
"""Seconds in which a connection that is one too many may ask, to be answered once."""
PIPELINED = 32
"""Requests of one connection that may wait while one is answered."""

_UNREAD: dict[str, Any] = {"type": "http", "method": "-", "path": "", "raw_path": b""}
_UNREAD |= {"query_string": b"", "headers": []}


class BoundedHttp(Connection):
    """HTTP/1.1 with a limit on headers, on the time that they take, and on requests that wait.

    The parser hands a header over when it has all of it, so what it still holds is counted as well:
    `unread` is what came since it last handed over anything but headers.
    """

    refused: GatepostError | None = None
    """The error for which nothing more is read."""
    in_head = True
    start: bytearray
    """The bytes since the request before this one: its first line is in them as it was sent."""
    unread = header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.start = bytearray()

    def data_received(self, data: bytes) -> None:
        # The timer ends when the headers are complete, not at the first byte: a peer that sends
        # its headers a byte a minute must not be able to stay.
        if self.refused or self.transport.is_closing():
            return
        self.unread += len(data)
        self.start += data
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # We offer none: the request is served as it is, but what follows can't be parsed.
            self.cycle.keep_alive = False
            self.unread = 0
        except httptools.HttpParserError:
            self._refuse(Malformed("This is not an HTTP request that can be read."))
        self._bound_the_head()
        if not self.in_head:
            self.start.clear()

    def _bound_the_head(self) -> None:
        if self.refused is None and self.unread > HEADER_BYTES:
            self._refuse(_too_large())
        elif self.refused is None and self.in_head and self.url and self._is_of_old():
            self._refuse(Malformed("Speak HTTP/1.1."))

    def _is_of_old(self) -> bool:
        """Return whether the request is HTTP/0.9, which has one line and no more, and waits for its
        answer then."""
        whole = b"%b %b" % (self.parser.get_method(), self.url)
        return self.start.endswith((whole + b"\r\n", whole + b"\n"))

    def _refuse(self, error: GatepostError) -> None:
        """Have the application refuse, but not before what came earlier on this connection has had
        its own answer. A request that came in half is itself refused."""
        self.refused = self.refused or error
        self._unset_keepalive_if_required()
        earlier = self.cycle
        if earlier is not None and earlier.more_body and not earlier.response_complete:
            earlier.scope[REFUSAL] = self.refused  # type: ignore[literal-required]
            earlier.keep_alive = False
            earlier.message_event.set()
            return
        self.cycle = self._answer_of(self.refused)
        if earlier is None or earlier.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def _answer_of(self, error: GatepostError) -> RequestResponseCycle:
        """Return the answer to a request that was not read, or not to its end: what is known of it
        doesn't matter."""
        known: Any = dict(self.scope or {})
        cycle = RequestResponseCycle(
            scope=known | _UNREAD | {REFUSAL: error},
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=False,
            on_response=self.on_response_complete,
        )
        cycle.more_body = False
        return cycle

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.in_head = True
        self.header_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(b": \r\n"))
        if self.in_head:  # trailers come when the request has been given away, and are nobody's
            super().on_header(name, value.rstrip(b" \t"))

    def on_headers_complete(self) -> None:
        self.unread = 0
        self.in_head = False
        self._check_head()
        self._unset_keepalive_if_required()
        super().on_headers_complete()
        if self.stopping or self.last:
            self.cycle.keep_alive = False

    def _check_head(self) -> None:
        """Raise why the head is refused, if it is: the parser reads no further when a callback has
        failed."""
        method, version = self.parser.get_method(), self.parser.get_http_version()
        if self.refused is None and len(self.pipeline) >= PIPELINED:
            self.refused = TooMuchAtOnce(
                f"At most {PIPELINED} requests of a connection may wait for their answers."
            )
        if self.refused is None and (
            why := objection(self.start, method, self.url, version, self.headers)
        ):
            self.refused = Malformed(why)
        if self.refused is not None:
            raise self.refused

    def on_body(self, body: bytes) -> None:
        self.unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.unread = 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self.header_bytes += size
        if self.header_bytes > HEADER_BYTES:
            self.refused = _too_large()
            raise self.refused


def _too_large() -> GatepostError:
    return Malformed(f"The headers may have {HEADER_BYTES} bytes at most.")


class MutualTls(BoundedHttp):
    """A connection that puts the peer's certificate, as the handshake has verified it, into each
    request's scope; each certificate's connections are bounded."""

    one_too_many = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        der = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        try:
            self.certificate = Certificate(der)
            fingerprint, most = self.certificate.fingerprint, _most_of(self.certificate)
        except Exception:
            transport.abort()  # nobody could say later whose this connection is
            raise
        super().connection_made(transport)
        if not self.server_state.live.crowd.belongs_to(self, fingerprint, most):
            self.one_too_many = True
            self.expect_a_request(REFUSED_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CERTIFICATE] = self.certificate  # type: ignore[literal-required]

    def _check_head(self) -> None:
        if self.one_too_many:
            self.refused = TooMuchAtOnce("Too many connections with this certificate are open.")
        super()._check_head()


def _most_of(certificate: Certificate) -> int:
    """Return how many connections may be open with a certificate."""
    try:
        role = certificate.identity.role
    except BadIdentity:
        role = Role.CLIENT
    return OF_A_CLIENT if role is Role.CLIENT else OF_A_SERVICE
