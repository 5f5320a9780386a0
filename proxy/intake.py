"""Intake: from an admitted submission to what its sender is told. The id, the seal, the commit.

I1: a sender is answered only after a store has committed the message.
I7: a message is sealed to the main server before it leaves this process's memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import msgspec

from gatepost.clock import Clock, iso
from gatepost.errors import OutcomeUnknown, Unavailable
from gatepost.ids import MessageIds, id_ms
from gatepost.queue import Queues
from gatepost.service.tracing import Span
from gatepost.trust.sealing import Sealer
from gatepost.wire.bundle import KnownClient
from gatepost.wire.content import Content, encode_content
from gatepost.wire.envelope import Envelope
from proxy.admission import Submission
from proxy.commit import Commit
from proxy.keyed import Committed, Key, KeyedCommit, make_key, ordering_mac
from proxy.metrics import REPLAYED, UNAVAILABLE, UNKNOWN
from proxy.schedule import times
from proxy.senders import Senders
from proxy.tracing import begin_sending, say_committed, unrecorded


@dataclass(frozen=True, slots=True)
class Trace:
    """The marks by which the way of a message is found again in logs and traces."""

    request_id: str
    traceparent: str
    span: Span | None = None
    """The request's span, where its trace is recorded."""


class Accepted(msgspec.Struct, frozen=True):
    """The answer for an accepted message."""

    message_id: UUID
    status: str
    queued_at: str
    durability: str


class Intake:
    def __init__(
        self,
        clock: Clock,
        senders: Senders,
        queues: Queues,
        commit: Commit,
        keyed: KeyedCommit,
        count: Callable[[str], None],
    ) -> None:
        self._clock = clock
        self._ids = MessageIds(clock)
        self._sealer = Sealer()
        self._senders = senders
        self._queues = queues
        self._commit = commit
        self._keyed = keyed
        self._count = count

    async def accept(
        self, submission: Submission, client: KnownClient, key: str | None, trace: Trace
    ) -> tuple[Accepted, bool]:
        """Return what to answer, and whether it is the answer to an earlier post of the same key.

        Raise if the message isn't safe, or if that can't be known.
        """
        if trace.span is None:
            alone = Trace(trace.request_id, unrecorded(trace.traceparent))
            return await self._accept(submission, client, key, alone)
        with begin_sending(trace.span, self._queue_of(client)) as span:
            below = Trace(trace.request_id, span.traceparent)
            accepted, replayed = await self._accept(submission, client, key, below)
            say_committed(span, accepted.message_id, accepted.durability, replayed)
        return accepted, replayed

    async def _accept(
        self, submission: Submission, client: KnownClient, key: str | None, trace: Trace
    ) -> tuple[Accepted, bool]:
        try:
            committed = await self._committed(submission, client, key, trace)
        except Unavailable:
            self._count(UNAVAILABLE)
            raise
        except OutcomeUnknown:
            self._count(UNKNOWN)
            raise
        self._count(REPLAYED if committed.replayed else committed.durability)
        queued_at = iso(id_ms(committed.message_id))
        accepted = Accepted(committed.message_id, "queued", queued_at, committed.durability)
        return accepted, committed.replayed

    async def _committed(
        self, submission: Submission, client: KnownClient, key: str | None, trace: Trace
    ) -> Committed:
        if not self._clock.known:
            raise Unavailable("This proxy does not know the time yet; try again in a moment.")
        message_id = self._ids.new()
        if key is None:
            envelope = self._envelop(message_id, submission, client, trace)
            return Committed(message_id, await self._commit.side_by_side(envelope))
        client_id = client.identity.client_id
        named = make_key(self._senders.bundle.mac_key, client_id, key, submission)
        return await self._keyed.commit(
            named,
            message_id,
            lambda decided: self._envelop(decided, submission, client, trace, named),
        )

    def _queue_of(self, client: KnownClient) -> str:
        return self._queues.full_name(self._senders.domain_of(client).queue)

    def _envelop(
        self,
        message_id: UUID,
        submission: Submission,
        client: KnownClient,
        trace: Trace,
        key: Key | None = None,
    ) -> Envelope:
        """Make the envelope; raise Invalid where the times that were sent don't fit the message's
        own."""
        bundle, said = self._senders.bundle, submission.schedule
        queued_at = id_ms(message_id)
        due_at, expires_at = times(said, queued_at, bundle.max_lifetime_seconds * 1000)
        content = encode_content(Content(submission.sender_number, submission.message_body))
        client_id = client.identity.client_id
        return Envelope(
            message_id=message_id,
            client_id=client_id,
            domain=client.domain,
            queue=self._queue_of(client),
            cert_fingerprint=client.fingerprint,
            queued_at=queued_at,
            expires_at=expires_at,
            due_at=due_at,
            priority=said.priority,
            ordering_mac=ordering_mac(bundle.mac_key, client_id, said.ordering_key),
            sealed=self._sealer.seal(
                bundle.sealing_key, message_id, client_id, client.domain, content
            ),
            request_id=trace.request_id,
            traceparent=trace.traceparent,
            client_timestamp=submission.client_timestamp,
            key_mac=key.mac if key else None,
            payload_mac=key.payload_mac if key else None,
        )
