"""Hash and compare passwords: they are kept as Argon2id, never themselves. What they must be like
is in `guessing`.

Hashing takes long and much memory on purpose. So it has threads of its own, few of them, which give
way, and a queue that ends: whoever tries passwords by the thousand must not keep the ledger's
threads busy, nor those who look at pages waiting.
"""

import asyncio
import os
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import Parameters, PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

from gatepost.errors import TooManyTries
from main_server.people.users.guessing import MOST_CHARACTERS

THREADS, MOST_WAITING = 2, 32
NICE = 10
T = TypeVar("T")

_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=2)
_FORMER: list[PasswordHasher] = []
"""The former costs of hashes. When passwords are to cost more, what they cost until then comes
here, and stays until everybody has signed in once: their hashes are made anew then."""


class Costs:
    """The costs that hashes may have. To look at a password costs as much as all of them together,
    so that nobody can tell a name that nobody has from one whose hash is of a former cost."""

    def __init__(self, now: PasswordHasher, *former: PasswordHasher) -> None:
        self.now = now
        self._nobodys = [one.hash("nobody has this password") for one in (now, *former)]

    def is_right(self, kept: str | None, password: str) -> bool:
        looked_at = list(self._nobodys)
        costs = [extract_parameters(one) for one in looked_at]
        cost = _cost_of(kept)
        theirs = costs.index(cost) if cost in costs else 0
        if kept is not None:
            looked_at[theirs] = kept
        matches = [self._matches(one, password) for one in looked_at]
        return matches[theirs] and kept is not None

    def _matches(self, hashed: str, password: str) -> bool:
        try:
            return self.now.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False


_COSTS = Costs(_HASHER, *_FORMER)


def hash_password(password: str) -> str:
    return _COSTS.now.hash(_normal(password))


def is_right(kept: str | None, password: str) -> bool:
    """Tell whether a password is right; it takes as long where there is no password as where it is
    wrong."""
    password = _normal(password)
    return len(password) <= MOST_CHARACTERS and _COSTS.is_right(kept, password)


def is_of_former_cost(kept: str) -> bool:
    return _COSTS.now.check_needs_rehash(kept)


def _normal(password: str) -> str:
    """Return a password in its normal form, in which what looks the same is the same: one keyboard
    types é as one character, another as two."""
    return unicodedata.normalize("NFC", password)


def _cost_of(kept: str | None) -> Parameters | None:
    try:
        return extract_parameters(kept) if kept is not None else None
    except InvalidHashError:
        return None


class Passwords:
    """The threads of one process that hash passwords."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "passwords", _give_way)
        self._waiting = 0

    async def hash(self, password: str) -> str:
        return await self._run(lambda: hash_password(password))

    async def made_anew(self, kept: str, password: str) -> str | None:
        """Return what to keep instead of a hash of a former cost, now that the password is at hand;
        None if the cost is today's."""
        return await self.hash(password) if is_of_former_cost(kept) else None

    async def is_right(self, kept: str | None, password: str) -> bool:
        return await self._run(lambda: is_right(kept, password))

    async def _run(self, work: Callable[[], T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise TooManyTries("Too many people sign in just now. Try again in a moment.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


def _give_way() -> None:
    """Give way to all else that wants the processor; Linux has a priority for each thread."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
