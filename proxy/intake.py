"""Intake: from an admitted submission to a 202. The id, the seal, the commit, in this order.

I1: the answer is sent only after the queue has committed the envelope.
I7: the envelope is sealed to the main server before it leaves this function's memory.
"""

from dataclasses import dataclass
from uuid import UUID

import msgspec

from gatepost.bundle import KnownClient
from gatepost.clock import Clock
from gatepost.content import Content, encode_content
from gatepost.envelope import Envelope, encode
from gatepost.errors import OutcomeUnknown, Unavailable
from gatepost.ids import MessageIds, id_ms
from gatepost.queue import (
    Entry,
    QueueError,
    QueueFull,
    QueueLoading,
    QueueReadOnly,
    Queues,
)
from gatepost.sealing import Sealer
from gatepost.service.redis import RedisWatch
from proxy.admission import Submission
from proxy.senders import Senders


@dataclass(frozen=True, slots=True)
class Trace:
    """How the way of a message is found again in logs and traces."""

    request_id: str
    traceparent: str


class Accepted(msgspec.Struct, frozen=True):
    """What a sender is told of an accepted message."""

    message_id: UUID
    status: str
    queued_at: str
    durability: str


class Intake:
    def __init__(self, clock: Clock, queues: Queues, watch: RedisWatch) -> None:
        self._ids = MessageIds(clock)
        self._sealer = Sealer()
        self._queues = queues
        self._watch = watch

    def envelop(
        self, submission: Submission, client: KnownClient, senders: Senders, trace: Trace
    ) -> Envelope:
        bundle = senders.bundle
        message_id = self._ids.new()
        queued_at = id_ms(message_id)
        content = encode_content(Content(submission.sender_number, submission.message_body))
        client_id = client.identity.client_id
        return Envelope(
            message_id=message_id,
            client_id=client_id,
            domain=client.domain,
            queue=self._queues.full_name(senders.queue_of(client)),
            cert_fingerprint=client.fingerprint,
            queued_at=queued_at,
            expires_at=queued_at + bundle.max_lifetime_seconds * 1000,
            sealed=self._sealer.seal(
                bundle.sealing_key, message_id, client_id, client.domain, content
            ),
            request_id=trace.request_id,
            traceparent=trace.traceparent,
            client_timestamp=submission.client_timestamp,
        )

    async def commit(self, envelope: Envelope) -> None:
        """Returns once the message is safe; raises if it is not, or if that can't be known."""
        entry = Entry(
            id=envelope.message_id.bytes, payload=encode(envelope), expires_at=envelope.expires_at
        )
        if self._watch.problem:
            raise Unavailable()
        try:
            await self._queues.named(envelope.queue).enqueue([entry])
        except (QueueFull, QueueLoading, QueueReadOnly):
            raise Unavailable() from None
        except QueueError:
            raise OutcomeUnknown() from None
