"""The status of a message, for the client that sent it: the ledger first, else the queue.

Another client's message is answered like one that does not exist. "Not found" needs both to have
answered. Where the ledger can't be asked, all that the queue can say is that it has the message:
nobody can know then whether it was delivered. A worker may have lost the answer to its delivery,
and a Redis that was set back has forgotten what it had settled.
"""

from functools import partial
from typing import Any
from uuid import UUID

import httpx

from gatepost.clock import iso
from gatepost.decoding import Undecodable, decode_json
from gatepost.errors import NotFound, Unavailable
from gatepost.queue import Queue, QueueError, Queues
from gatepost.trust.identity import Identity
from gatepost.wire.envelope import decode

_UNSURE = {"status": "unknown", "source": "queue"}
"""The most that the queue's word counts for, unless the ledger has answered, too."""


class Statuses:
    def __init__(self, main_server: httpx.AsyncClient, queues: Queues) -> None:
        self._main_server = main_server
        self._queues = queues

    async def show(
        self, message_id: UUID, sender: Identity, queue_name: str | None
    ) -> dict[str, Any]:
        queue = self._queues.named(queue_name)
        silent = False
        # The ledger is asked again last: a message may leave the queue for it between two answers.
        ask_ledger = partial(self._ask_ledger, message_id, sender)
        ask_queue = partial(self._ask_queue, message_id, sender, queue)
        for ask in (ask_ledger, ask_queue, ask_ledger):
            try:
                found = await ask()
            except (httpx.HTTPError, QueueError, Undecodable):
                silent = True
                continue
            if found is not None:
                return found | _UNSURE if silent and ask is ask_queue else found
        if silent:
            raise Unavailable("The message's state can't be known just now; ask again.")
        raise NotFound()

    async def _ask_ledger(self, message_id: UUID, sender: Identity) -> dict[str, Any] | None:
        answer = await self._main_server.get(
            f"/internal/messages/{message_id}", params={"client_id": sender.client_id}
        )
        if answer.status_code == 404:
            return None
        answer.raise_for_status()
        return decode_json(answer.content, dict[str, Any])

    async def _ask_queue(
        self, message_id: UUID, sender: Identity, queue: Queue
    ) -> dict[str, Any] | None:
        payload = (await queue.payloads([message_id.bytes]))[0]
        if payload is None:
            return None
        try:
            envelope = decode(payload)
        except Undecodable:
            return None  # whose it is can't be told
        if envelope.client_id != sender.client_id:
            return None
        standing = (await queue.peek([message_id.bytes]))[0]
        queued_at = iso(envelope.queued_at)
        return {
            "message_id": str(message_id),
            "status": "queued",
            "created_at": queued_at,
            "queued_at": queued_at,
            "delivered_at": None,
            "attempt_count": standing.attempts if standing else 0,
        }
