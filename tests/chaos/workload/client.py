"""An open-loop client: each post begins at its own time, however the earlier ones fare.

What came with a key is repeated: now and then for its own sake, and always where its end is
unknown. Some go to two proxies at the same instant.
"""

import asyncio
import json
import random
import time
from dataclasses import dataclass

from tests.chaos.history import Heard, History, Kind
from tests.chaos.workload.answers import note
from tests.chaos.workload.posting import Broken, Connections, NotSent
from tests.chaos.workload.texts import Text, Texts

SINGLE, BATCH = "/api/v1/messages", "/api/v1/messages/batch"
MOST_UNDER_WAY = 400
REPEATS_OF_UNKNOWN = 4


@dataclass(frozen=True, slots=True)
class Mix:
    """Of a hundred posts, how many are of which kind; the rest are plain ones."""

    keyed: float = 25.0
    twins: float = 2.0
    batch: float = 3.0
    wrong: float = 4.0
    batch_size: int = 30
    repeated: float = 50.0
    """Of a hundred with a key, how many are repeated later."""
    repeat_within: float = 8.0


class Client:
    def __init__(
        self,
        gates: list[Connections],
        history: History,
        texts: Texts,
        mix: Mix,
        dice: random.Random,
    ) -> None:
        self._gates = gates
        self._history = history
        self._texts = texts
        self._mix = mix
        self._dice = dice
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self, rate: float, seconds: float, stop: asyncio.Event) -> None:
        """Begins `rate` posts a second, at random times; returns when all have ended."""
        over = time.monotonic() + seconds
        due = time.monotonic()
        while not stop.is_set() and due < over:
            due += self._dice.expovariate(rate)
            await _pause(stop, due - time.monotonic())
            if len(self._under_way) < MOST_UNDER_WAY:
                self._begin()
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _begin(self) -> None:
        task = asyncio.create_task(self._one())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _one(self) -> None:
        """Whatever the dice say."""
        mix, throw = self._mix, self._dice.uniform(0, 100)
        if (throw := throw - mix.batch) < 0:
            await self._batch()
        elif (throw := throw - mix.wrong) < 0:
            wrong = self._texts.wrong() if self._dice.random() < 0.7 else self._texts.garbage()
            await self._post("invalid", wrong)
        elif (throw := throw - mix.twins) < 0:
            text = self._texts.good(keyed=True)
            await asyncio.gather(
                self._post("post", text, self._gates[0]),
                self._post("repeat", text, self._gates[-1]),
            )
            await self._repeat(text)
        elif throw - mix.keyed < 0:
            await self._keyed()
        else:
            await self._post("post", self._texts.good())

    async def _keyed(self) -> None:
        text = self._texts.good(keyed=True)
        known = await self._post("post", text)
        for _ in range(REPEATS_OF_UNKNOWN):
            if known:
                break
            await asyncio.sleep(self._dice.uniform(0.2, 2.0))
            known = await self._post("repeat", text)
        if self._dice.uniform(0, 100) < self._mix.repeated:
            await self._repeat(text)

    async def _repeat(self, text: Text) -> None:
        await asyncio.sleep(self._dice.uniform(0.0, self._mix.repeat_within))
        await self._post("repeat", text)

    async def _post(self, kind: Kind, text: Text, gate: Connections | None = None) -> list[Heard]:
        headers = {"content-type": "application/json"}
        if text.item.key:
            headers["idempotency-key"] = text.item.key
        return await self._send(kind, SINGLE, headers, text.body, [text], gate)

    async def _batch(self) -> None:
        texts = [
            self._texts.wrong()
            if self._dice.uniform(0, 100) < self._mix.wrong
            else self._texts.good(keyed=self._dice.uniform(0, 100) < self._mix.keyed)
            for _ in range(self._mix.batch_size)
        ]
        body = json.dumps([text.in_batch() for text in texts]).encode()
        await self._send("batch", BATCH, {"content-type": "application/json"}, body, texts)

    async def _send(
        self,
        kind: Kind,
        path: str,
        headers: dict[str, str],
        body: bytes,
        texts: list[Text],
        gate: Connections | None = None,
    ) -> list[Heard]:
        """What was heard of each; nothing if that can't be known."""
        gate = gate or self._dice.choice(self._gates)
        op = self._history.invoke(kind, [text.item for text in texts], gate.name)
        try:
            answer = await gate.post(path, headers, body)
        except NotSent as error:
            self._history.fail(op, kind, f"not sent: {error}")
            return []
        except Broken as error:
            self._history.info(op, kind, str(error))
            return []
        return note(self._history, op, kind, answer, len(texts))


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    if seconds > 0:
        try:
            async with asyncio.timeout(seconds):
                await stop.wait()
        except TimeoutError:
            return
