"""Limits of the plain port: how often one address may ask, and how many are served at once.

Nobody proves there who they are. So guessing tokens is slow for whoever does it, and neither they
nor a flood of questions take the ledger from those who deliver messages. Each process counts for
itself.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, ip_address

from gatepost.errors import Unavailable
from main_server.buckets import Buckets

_NETWORK = 8
"""Octets of an IPv6 address that name a network: whoever has one has all addresses in it."""


class Peers:
    """A bucket for each address."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._buckets = Buckets(rate, burst, "Too many requests from this address.", clock)

    def take(self, address: str) -> None:
        """Take one request from the address's bucket; raise RateLimited if there is none left."""
        self._buckets.take(_network(address))


class Turns:
    """Turns for so many at once; so many more wait for theirs, and the rest is sent away."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._room = at_once + waiting

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Take a turn, waiting for it if need be; raise Unavailable if too many wait."""
        if not self._room:
            raise Unavailable("Too many ask just now. Try again in a moment.")
        self._room -= 1
        try:
            async with self._free:
                yield
        finally:
            self._room += 1


def _network(address: str) -> str:
    found = ip_address(address)
    plain = found if isinstance(found, IPv4Address) else found.ipv4_mapped
    return str(plain) if plain is not None else found.packed[:_NETWORK].hex()
