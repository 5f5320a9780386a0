"""Partners that send by the library all the time, whatever happens to their certificates."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gatepost.client import AsyncClient, Client
from gatepost.client.files import Files
from tests.acceptance.site import Site, eventually
from tests.factories import BODY, NUMBER


class Senders:
    """Three that send by one client of the library all the time, and ask it what it shows."""

    def __init__(self, site: Site, files: Files, *, asynchronous: bool, renew: bool) -> None:
        self.promised: list[str] = []
        self.failed: list[Exception] = []
        self.serial = ""
        self._stop = threading.Event()
        self._how: dict[str, Any] = {
            "base_url": site.url("proxy"),
            "ca": files.ca,
            "cert": files.cert,
            "key": files.key,
            "retry_for": 0,
            "renew": renew,
        }
        run = self._asynchronous if asynchronous else self._blocking
        self._thread = threading.Thread(target=run)

    def __enter__(self) -> "Senders":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)

    def shows(self, files: Files) -> None:
        serial = f"{files.leaf().serial_number:032x}"
        eventually(lambda: self.serial == serial or self.failed, "it is taken up")

    def flow(self, more: int) -> None:
        """Until so many more have been sent, or one has failed."""
        wanted = len(self.promised) + more
        eventually(lambda: len(self.promised) >= wanted or self.failed, "more is sent")

    def _blocking(self) -> None:
        def send() -> None:
            while not self._stop.is_set():
                try:
                    self.promised.append(str(gateway.send(NUMBER, BODY).message_id))
                    self.serial = gateway.whoami().certificate.serial
                except Exception as error:
                    self.failed.append(error)

        with Client(**self._how) as gateway, ThreadPoolExecutor(3) as pool:
            for _ in range(3):
                pool.submit(send)

    def _asynchronous(self) -> None:
        async def send(gateway: AsyncClient) -> None:
            while not self._stop.is_set():
                try:
                    self.promised.append(str((await gateway.send(NUMBER, BODY)).message_id))
                    self.serial = (await gateway.whoami()).certificate.serial
                except Exception as error:
                    self.failed.append(error)

        async def run() -> None:
            async with AsyncClient(**self._how) as gateway:
                await asyncio.gather(*(send(gateway) for _ in range(3)))

        asyncio.run(run())
