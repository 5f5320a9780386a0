"""The asynchronous client, for asyncio: awaits the flows' steps in turn. It decides nothing."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from datetime import datetime
from types import TracebackType
from uuid import UUID

import httpx

from gatepost.client import flows
from gatepost.client.answers import Identity, MessageStatus, Receipt
from gatepost.client.calls import Call
from gatepost.client.connection import FileName, settings
from gatepost.client.failures import TransportFailure, explain
from gatepost.client.renewing import files_of
from gatepost.client.upkeep import CLOSE_SECONDS, Upkeep


class AsyncClient:
    """`Client` with `await`: the same arguments, results, errors and promises.

    For use with `async with`, or `await close()`; one event loop each.
    """

    def __init__(
        self,
        base_url: str,
        *,
        ca: FileName,
        cert: FileName,
        key: FileName,
        timeout: float = 10.0,
        retry_for: float = 30.0,
        renew: bool = True,
    ) -> None:

        def open_http() -> httpx.AsyncClient:
            return httpx.AsyncClient(
                **settings(base_url, ca=ca, cert=cert, key=key, timeout=timeout)
            )

        self._open = open_http
        self._http = self._open()
        self._former: list[httpx.AsyncClient] = []
        self._upkeep = Upkeep(base_url, files_of(ca, cert, key), self._swap) if renew else None
        self._timing = flows.Timing(retry_for, time.monotonic, random.random)

    async def send(
        self,
        sender_number: str,
        message_body: str,
        *,
        client_id: str | None = None,
        timestamp: datetime | str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Hand over a message. The receipt means: it is committed and will not be lost."""
        flow = flows.send(
            self._timing,
            sender_number,
            message_body,
            client_id=client_id,
            timestamp=timestamp,
            idempotency_key=idempotency_key,
        )
        return await self._run(flow)

    async def status(self, message_id: UUID | str) -> MessageStatus:
        return await self._run(flows.status(self._timing, message_id))

    async def watch(
        self,
        message_id: UUID | str,
        timeout: float = float("inf"),  # noqa: ASYNC109 (it ends with what was last heard)
    ) -> AsyncIterator[MessageStatus]:
        """Each change of a message until it is final; `StillWaiting` after `timeout` seconds."""
        flow = flows.watch(self._timing, message_id, timeout)
        heard: flows.Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration:
                return
            if isinstance(step, MessageStatus):
                heard = None
                yield step
            else:
                heard = await self._perform(step)

    async def wait(
        self,
        message_id: UUID | str,
        timeout: float,  # noqa: ASYNC109 (it ends with what was last heard)
    ) -> MessageStatus:
        """The final status of a message; `StillWaiting` after `timeout` seconds."""
        return [status async for status in self.watch(message_id, timeout)][-1]

    async def whoami(self) -> Identity:
        """What the gateway makes of this certificate: identity, limits, expiry."""
        return await self._run(flows.whoami(self._timing))

    async def close(self) -> None:
        if self._upkeep is not None:
            await asyncio.to_thread(self._upkeep.wait, CLOSE_SECONDS)
        for http in (self._http, *self._former):
            await http.aclose()

    def _swap(self) -> None:
        """The former one is kept: others may be in the middle of a request with it."""
        new = self._open()
        self._former.append(self._http)
        self._http = new

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncClient of {self._http.base_url}>"

    async def _run(self, flow: flows.Flow[flows.T]) -> flows.T:
        if self._upkeep is not None:
            self._upkeep.look()
        heard: flows.Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration as end:
                value: flows.T = end.value
                return value
            heard = await self._perform(step)

    async def _perform(self, step: Call | flows.Pause) -> flows.Heard:
        if isinstance(step, flows.Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await self._http.request(
                step.method, step.path, headers=step.headers, content=step.content
            )
        except TransportFailure as failure:
            return explain(step, failure)
