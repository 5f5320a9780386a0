"""The connections of a client, sync or async, and their change when its certificate is renewed."""

from collections.abc import Callable
from typing import Generic, TypeVar

from gatepost.client.connection import Settings, settings
from gatepost.client.files import Files
from gatepost.client.upkeep import CLOSE_SECONDS, Upkeep

H = TypeVar("H")


class Kept(Generic[H]):
    """`current` is what to call with. Those before it are kept until the end: others may be in
    the middle of a request with them."""

    def __init__(
        self,
        make: Callable[[Settings], H],
        base_url: str,
        files: Files,
        *,
        timeout: float,
        renew: bool,
        proxy: str | None = None,
    ) -> None:
        def begin() -> H:
            ca, cert, key = files.ca, files.cert, files.key
            how = settings(base_url, ca=ca, cert=cert, key=key, timeout=timeout, proxy=proxy)
            return make(how)

        self._begin = begin
        self._former: list[H] = []
        self.current = begin()
        self._upkeep = Upkeep(base_url, files, self._swap, renew=renew, proxy=proxy)

    def look(self) -> None:
        """At each request: is it time to renew, or has somebody renewed?"""
        self._upkeep.look()

    def end(self) -> list[H]:
        """All that are to be closed now; a renewal that is under way is waited for."""
        self._upkeep.wait(CLOSE_SECONDS)
        return [self.current, *self._former]

    def _swap(self) -> None:
        new = self._begin()
        self._former.append(self.current)
        self.current = new
