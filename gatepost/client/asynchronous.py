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
from gatepost.client.connection import FileName
from gatepost.client.failures import TransportFailure, explain
from gatepost.client.kept import Kept
from gatepost.client.renewing import files_of


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
        files = files_of(ca, cert, key)
        self._kept = Kept(
            lambda how: httpx.AsyncClient(**how), base_url, files, timeout=timeout, renew=renew
        )
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
        for http in await asyncio.to_thread(self._kept.end):
            await http.aclose()

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
        return f"<AsyncClient of {self._kept.current.base_url}>"

    async def _run(self, flow: flows.Flow[flows.T]) -> flows.T:
        self._kept.look()
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
            return await self._kept.current.request(
                step.method, step.path, headers=step.headers, content=step.content
            )
        except TransportFailure as failure:
            return explain(step, failure)
