"""The blocking client, which carries out the flows' steps in turn. It decides nothing."""

import random
import time
from collections.abc import Iterable, Iterator
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


class Client:
    """A connection to the gateway, for use with `with` or `close()`; threads may share it.

    Every send carries an Idempotency-Key: the one given, or a new UUID. It is kept when the send is
    repeated: here, for up to `retry_for` seconds (no connection, 429, 503, no answer), or by the
    caller, under the key of the error. The gateway knows a repeat by its key and answers with the
    first one's receipt, so that repeating never makes a second message.

    `timeout` is for one try, in seconds. `retry_for=0` tries once. `proxy` is the address,
    http://host:port, of one that is asked to CONNECT.

    At its limit, a client goes as fast as the gateway lets it: all threads that send by it take
    turns.

    The certificate is renewed by the way, from two thirds of its life on, and its files are
    replaced in their places; `renew=False` leaves that to `gatepost cert renew --daemon`. Either
    way, files that are replaced are taken up within a second or two.
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
            lambda how: httpx.Client(**how),
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
    ) -> "Client":
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

    def send(self, sender_number: str, message_body: str, **options: Unpack[Options]) -> Receipt:
        """Hand over a message. The receipt means: it is committed and will not be lost."""
        message = Message(sender_number, message_body, **options)
        return self._run(flows.send(self._timing, message))

    def send_many(self, messages: Iterable[Message]) -> list[Sent]:
        """Hand over many messages, in batches, at the rate that the gateway grants, and return what
        became of each, in order. What may be repeated is, until none was accepted for `retry_for`
        seconds."""
        return self._run(batches.send_many(self._timing, messages))

    def status(self, message_id: UUID | str) -> MessageStatus:
        return self._run(flows.status(self._timing, message_id))

    def watch(
        self, message_id: UUID | str, timeout: float = float("inf")
    ) -> Iterator[MessageStatus]:
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
                heard = self._perform(step)

    def wait(self, message_id: UUID | str, timeout: float) -> MessageStatus:
        """Return the final status of a message; raise `StillWaiting` after `timeout` seconds."""
        return list(self.watch(message_id, timeout))[-1]

    def whoami(self) -> Identity:
        """Return what the gateway makes of this certificate: identity, limits, expiry."""
        return self._run(flows.whoami(self._timing))

    def close(self) -> None:
        for http in self._kept.end():
            http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self._kept.current.base_url}>"

    def _run(self, flow: flows.Flow[flows.T]) -> flows.T:
        heard: flows.Heard = None
        while True:
            try:
                step = flow.send(heard)
            except StopIteration as end:
                value: flows.T = end.value
                return value
            heard = self._perform(step)

    def _perform(self, step: Call | flows.Pause) -> flows.Heard:
        if isinstance(step, flows.Pause):
            time.sleep(step.seconds)
            return None
        self._kept.look()
        try:
            return self._kept.current.request(
                step.method, step.path, headers=step.headers, content=step.content
            )
        except TransportFailure as failure:
            return explain(step, failure)
