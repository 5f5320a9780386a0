"""A good partner that goes on sending while others are hostile: what each post took."""

import asyncio
import json
import time

from tests.hostile.exchange import Connection, Peer, request_bytes

REQUEST = request_bytes(
    "POST",
    "/api/v1/messages",
    {"content-type": "application/json"},
    json.dumps({"sender_number": "+1234567890", "message_body": "x" * 120}).encode(),
)


class GoodPartner:
    """Posts at a steady rate from two connections, waiting for nobody else."""

    def __init__(self, peer: Peer, rate: float = 20.0) -> None:
        self._peer = peer
        self._gap = 2 / rate
        self.taken: list[float] = []
        """Seconds from the moment a post was due until its answer: a late start counts."""
        self.refused: dict[int, int] = {}

    async def post_until(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for turn in range(2):
                group.create_task(self._post(stop, turn * self._gap / 2))

    def p99_ms(self) -> float:
        ordered = sorted(self.taken)
        return round(ordered[int(0.99 * (len(ordered) - 1))] * 1000, 1) if ordered else 0.0

    async def _post(self, stop: asyncio.Event, offset: float) -> None:
        connection = Connection(self._peer)
        due = time.monotonic() + offset
        while not stop.is_set():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            status = await connection.ask(REQUEST)
            if status == 202:
                self.taken.append(time.monotonic() - due)
            else:
                self.refused[status] = self.refused.get(status, 0) + 1
            due = max(due + self._gap, time.monotonic() - self._gap)
        connection.close()
