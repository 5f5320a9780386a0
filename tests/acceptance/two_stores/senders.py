"""Senders that go on whatever happens, and remember what they were promised."""

import threading
import time
from contextlib import suppress
from typing import Any
from uuid import uuid4

import httpx

from tests.acceptance.two_stores.rig import Rig, post
from tests.heard import wait_until


class Senders:
    """`promised`: the messages with a 202, and how durable each was said to be; `at`: when.

    With `keyed` each post has an Idempotency-Key of its own.
    """

    def __init__(self, rig: Rig, threads: int = 3, *, keyed: bool = False) -> None:
        self._rig = rig
        self._keyed = keyed
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(threads)]
        self.promised: dict[str, str] = {}
        self.at: dict[str, float] = {}
        self.strange: list[str] = []

    def __enter__(self) -> "Senders":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def flow(self, more: int = 20, seconds: float = 30.0) -> None:
        """Until so many more have been promised."""
        wanted = len(self.promised) + more
        wait_until(lambda: len(self.promised) >= wanted, seconds)

    def of(self, durability: str) -> list[str]:
        return [one for one, said in self.promised.items() if said == durability]

    def _send(self) -> None:
        while not self._stop.is_set():
            with suppress(httpx.HTTPError), self._rig.client(timeout=12) as client:
                while not self._stop.is_set():
                    self._note(post(client, uuid4().hex if self._keyed else None))
                    self._stop.wait(0.005)

    def _note(self, answer: httpx.Response) -> None:
        if answer.status_code == 202:
            told = answer.json()
            self.at[told["message_id"]] = time.monotonic()
            self.promised[told["message_id"]] = told["durability"]
        elif answer.status_code not in (429, 503):
            self.strange.append(answer.text)
