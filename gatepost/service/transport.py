"""An httpx transport for calls between our services: HTTP/1.1 on kept connections, and little else.

The hot path makes hundreds of calls a second; httpx's own transport spends several times as much
on each. What it promises is the same: an error before anything was written is a ConnectError or a
ConnectTimeout, one after it is a ReadError, a ReadTimeout or a RemoteProtocolError, and nothing is
sent twice.
"""

import asyncio
import ssl
from collections.abc import Callable
from types import TracebackType
from typing import Any

import httptools
import httpx

from gatepost.trust.identity import Certificate
from gatepost.trust.revoked import must_end

CONNECT_SECONDS = 3.0


class KeptConnections(httpx.AsyncBaseTransport):
    """Connections to one server, each used by one call at a time."""

    def __init__(
        self, context: ssl.SSLContext, limit: int, problem: Callable[[], str | None]
    ) -> None:
        """Allow `limit` calls at a time; `problem` says why nobody may be called just now, if
        so."""
        self._context = context
        self._problem = problem
        self._free = asyncio.Semaphore(limit)
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    def cut(self, is_out: Callable[[Certificate], bool]) -> None:
        """End the connections to servers with such certificates, in the middle of a call too."""
        for connection in list(self._open):
            if must_end(connection.certificate, is_out):
                connection.abort()

    def renew(self, context: ssl.SSLContext) -> None:
        """Make calls over new connections from now on; calls that are under way are the last on
        theirs."""
        self._context = context
        for connection in list(self._open):
            connection.last = True
        for connection in self._idle:
            connection.close()
        self._idle = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if problem := self._problem():
            raise httpx.ConnectError(problem)
        message = _head(request) + await request.aread()
        patience = request.extensions.get("timeout", {}).get("read")
        async with self._free:
            connection = await self._connect(request.url)
            try:
                async with asyncio.timeout(patience):
                    answer = await connection.exchange(message)
            except TimeoutError:
                connection.close()
                raise httpx.ReadTimeout("the server did not answer in time") from None
            except BaseException:
                connection.close()
                raise
            if answer.keep_alive and not connection.last:
                self._idle.append(connection)
            else:
                connection.close()
        return httpx.Response(answer.status, headers=answer.headers, content=answer.body())

    async def aclose(self) -> None:
        for connection in self._idle:
            connection.close()
        self._idle = []

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def _connect(self, url: httpx.URL) -> "_Connection":
        while self._idle:
            connection = self._idle.pop()
            if connection.open:
                return connection
        loop, context = asyncio.get_running_loop(), self._context
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open), url.host, url.port or 443, ssl=context
                )
        except TimeoutError:
            raise httpx.ConnectTimeout("the server did not take the connection in time") from None
        except (OSError, ssl.SSLError) as error:
            raise httpx.ConnectError(str(error)) from None
        connection.last = context is not self._context
        return connection


class _Answer:
    """One response, as httptools calls it out."""

    def __init__(self, done: "asyncio.Future[_Answer]") -> None:
        self._done = done
        self._parts: list[bytes] = []
        self.parser = httptools.HttpResponseParser(self)
        self.headers: list[tuple[bytes, bytes]] = []
        self.status = 0
        self.keep_alive = False

    def body(self) -> bytes:
        return b"".join(self._parts)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self.status = self.parser.get_status_code()
        self.keep_alive = self.parser.should_keep_alive()
        if not self._done.done():
            self._done.set_result(self)


class _Connection(asyncio.Protocol):
    """A connection; after an error, and when the server has closed it, it is not used again."""

    def __init__(self, register: "set[_Connection]") -> None:
        self._register = register
        self.open = self.last = False
        self._answer: _Answer | None = None
        self._done: asyncio.Future[_Answer] | None = None

    async def exchange(self, request: bytes) -> _Answer:
        self._done = asyncio.get_running_loop().create_future()
        self._answer = _Answer(self._done)
        self._transport.write(request)
        try:
            return await self._done
        finally:
            self._done = self._answer = None

    def close(self) -> None:
        self.open = False
        self._transport.close()

    def abort(self) -> None:
        """End the connection at once: what the other side still has to say is not heard."""
        self.open = False
        self._transport.abort()

    def connection_made(self, transport: Any) -> None:  # uvloop's TLS transport is no Transport
        self._transport = transport
        der = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        self.certificate = Certificate(der)
        self._register.add(self)
        self.open = True

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            self.close()  # nobody asked
            return
        try:
            self._answer.parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(httpx.RemoteProtocolError("the server's answer can't be read"))

    def connection_lost(self, _error: Exception | None) -> None:
        self.open = False
        self._register.discard(self)
        self._fail(httpx.ReadError("the server closed the connection"))

    def _fail(self, error: httpx.TransportError) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)


def _head(request: httpx.Request) -> bytes:
    lines = [b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%b: %b" % pair for pair in request.headers.raw]
    return b"\r\n".join(lines) + b"\r\n\r\n"
