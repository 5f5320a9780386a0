"""Passwords: what they must be like, and how they are kept: Argon2id, never themselves.

Hashing takes long and much memory on purpose. So it has threads of its own, few of them, and a
queue that ends, and gives way: who tries passwords by the thousand must not keep the ledger's
threads busy, nor those who look at pages waiting.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gatepost.errors import Invalid, TooManyTries
from gatepost.safety import FEWEST_CHARACTERS, SAMPLES

MOST_CHARACTERS = 256
THREADS, MOST_WAITING = 2, 32
SHORTEST_NAME = 4
NICE = 10
T = TypeVar("T")

_hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=2)
_NOBODYS = _hasher.hash("nobody has this password")


def check_password(password: str, name: str) -> None:
    """Raises Invalid unless it will do: length is what counts, so no rules on kinds of letters."""
    plain = password.lower()
    if not FEWEST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        raise Invalid(f"A password has {FEWEST_CHARACTERS} to {MOST_CHARACTERS} characters.")
    if len(set(password)) < FEWEST_CHARACTERS // 2:
        raise Invalid("This password repeats a few characters. Take a longer phrase.")
    if plain.rstrip("0123456789!.") in SAMPLES or _holds_name(plain, name):
        raise Invalid("This password can be guessed: it is a well-known one, or holds your name.")


def _holds_name(plain: str, name: str) -> bool:
    """Of short names nothing can be said: they are in many words."""
    return len(name) >= SHORTEST_NAME and name in plain


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def is_right(kept: str | None, password: str) -> bool:
    """Takes as long where there is no password as where it is wrong."""
    if len(password) > MOST_CHARACTERS:
        return False
    try:
        return _hasher.verify(kept or _NOBODYS, password) and kept is not None
    except (VerificationError, InvalidHashError):
        return False


class Passwords:
    """The threads that hash, of one process."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "passwords", _give_way)
        self._waiting = 0

    async def hash(self, password: str) -> str:
        return await self._run(lambda: hash_password(password))

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
    """To all else that wants the processor; Linux has it for each thread."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
