"""The public keys by which access tokens are verified: the portal can't mint any.

They are asked of the main server every minute. A token under a key that isn't known here is not
believed; the browser's refresh token brings it a new one. With the keys comes the time: a portal
whose clock is wrong would send everybody back to sign in.
"""

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gatepost.clock import Clock, from_ms
from gatepost.errors import GatepostError
from gatepost.logs import Log
from gatepost.loops import pause
from gatepost.service.access_tokens import public_key
from gatepost.wire.people import TokenKeys
from portal.main_server import MainServer

EVERY_SECONDS, AGAIN_SECONDS = 60.0, 1.0


class Keys:
    def __init__(self) -> None:
        self.known: Mapping[str, Ed25519PublicKey] = {}
        self.clock = Clock()
        self.problem: str | None = "the main server has not been asked yet"

    async def ask(self, main_server: MainServer) -> None:
        began = time.perf_counter()
        try:
            found = await main_server.get("/keys", None, TokenKeys)
            if found.now_ms is not None:
                self.clock.correct(found.now_ms, (time.perf_counter() - began) * 1000)
            self.known = {one.kid: public_key(bytes.fromhex(one.key)) for one in found.keys}
            self.problem = None
        except (GatepostError, ValueError) as error:
            self.problem = str(error)

    def now(self) -> datetime:
        """Return the time as the main server has it."""
        return from_ms(self.clock.now_ms()).replace(tzinfo=UTC)


async def keys_loop(stop: asyncio.Event, log: Log, keys: Keys, main_server: MainServer) -> None:
    while not stop.is_set():
        before = keys.problem
        await keys.ask(main_server)
        if keys.problem != before:
            (log.warning if keys.problem else log.info)("main_server.asked", problem=keys.problem)
        await pause(stop, AGAIN_SECONDS if keys.problem else EVERY_SECONDS)
