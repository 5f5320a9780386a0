"""The connections of a client, sync or async, and their change when its certificate is renewed."""

from collections.abc import Callable
from typing import Generic, TypeVar

from gatepost.client.connection import Settings, settings
from gatepost.client.files import Files
from gatepost.client.upkeep import CLOSE_SECONDS, Upkeep

H = TypeVar("H")


class Kept(Generic[H]):
    """The present connections of a client, `current`, and its former ones, which are kept until the
    end: a thread may be in the middle of a request with them."""

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
        """Check, at each request, whether it is time to renew or somebody has renewed."""
        self._upkeep.look()

    def end(self) -> list[H]:
        """Wait for a renewal that is under way, and return all connections that are to be
        closed."""
        self._upkeep.wait(CLOSE_SECONDS)
        return [self.current, *self._former]

    def _swap(self) -> None:
        new = self._begin()
        self._former.append(self.current)
        self.current = new
