"""The asynchronous client, for asyncio, which awaits the flows' steps in turn. It decides
nothing."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Unpack
from uuid import UUID

import httpx

from gatepost.client import batches, flows
from gatepost.client.answers import Identity, MessageStatus, Receipt, Sent
from gatepost.client.calls import Call
from gatepost.client.configuration import read_configuration
from gatepost.client.connection import FileName
from gatepost.client.failures import TransportFailure, explain
from gatepost.client.kept import Kept
from gatepost.client.messages import Message, Options
from gatepost.client.pace import Pace
from gatepost.client.renewing import files_of


class AsyncClient:
    """`Client` with `await`: the same arguments, results, errors and promises.

    Use it with `async with`, or `await close()`; each belongs to one event loop.
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
        proxy: str | None = None,
    ) -> None:
        files = files_of(ca, cert, key)
        self._kept = Kept(
            lambda how: httpx.AsyncClient(**how),
            base_url,
            files,
            timeout=timeout,
            renew=renew,
            proxy=proxy,
        )
        paces = Pace(time.monotonic), Pace(time.monotonic)
        self._timing = flows.Timing(retry_for, time.monotonic, random.random, *paces)

    @classmethod
    def from_config(
        cls,
        file: FileName | None = None,
        *,
        timeout: float = 10.0,
        retry_for: float = 30.0,
        renew: bool = True,
    ) -> "AsyncClient":
        """Return a client set up by the file that `gatepost enrol` has written, this user's or
        another; raise NotSetUp if there is none."""
        found = read_configuration(file)
        return cls(
            found.url,
            ca=found.ca,
            cert=found.cert,
            key=found.key,
            timeout=timeout,
            retry_for=retry_for,
            renew=renew,
            proxy=found.proxy,
        )

    async def send(
        self, sender_number: str, message_body: str, **options: Unpack[Options]
    ) -> Receipt:
        """Hand over a message. The receipt means: it is committed and will not be lost."""
        message = Message(sender_number, message_body, **options)
        return await self._run(flows.send(self._timing, message))

    async def send_many(self, messages: Iterable[Message]) -> list[Sent]:
        """Hand over many messages, in batches, at the rate that the gateway grants, and return what
        became of each, in order. What may be repeated is, until none was accepted for `retry_for`
        seconds."""
        return await self._run(batches.send_many(self._timing, messages))

    async def status(self, message_id: UUID | str) -> MessageStatus:
        return await self._run(flows.status(self._timing, message_id))

    async def watch(
        self,
        message_id: UUID | str,
        timeout: float = float("inf"),  # noqa: ASYNC109 (it ends with what was last heard)
    ) -> AsyncIterator[MessageStatus]:
        """Yield each change of a message until it is final; raise `StillWaiting` after `timeout`
        seconds."""
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
        """Return the final status of a message; raise `StillWaiting` after `timeout` seconds."""
        return [status async for status in self.watch(message_id, timeout)][-1]

    async def whoami(self) -> Identity:
        """Return what the gateway makes of this certificate: identity, limits, expiry."""
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
        self._kept.look()
        try:
            return await self._kept.current.request(
                step.method, step.path, headers=step.headers, content=step.content
            )
        except TransportFailure as failure:
            return explain(step, failure)
