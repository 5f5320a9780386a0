"""A client's certificate while the client lives: renewed when it is time, and taken up when it is.

Requests that are under way go on over the connections that they began on, so none fails by it.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from gatepost.client.errors import GatepostError
from gatepost.client.files import Files
from gatepost.client.renewing import renew
from gatepost.renewal import renewable_from

log = logging.getLogger("gatepost.client")

AGAIN = timedelta(minutes=5)
CLOSE_SECONDS = 30.0


class Upkeep:
    """Looks at each request, which costs a comparison; works in a thread of its own, one at most.

    `swap` is called in that thread once the files hold another certificate.
    """

    def __init__(
        self,
        base_url: str,
        files: Files,
        swap: Callable[[], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._base_url = base_url
        self._files = files
        self._swap = swap
        self._now = now
        self._leaf = files.leaf()
        self._due = renewable_from(self._leaf)
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        if self._now() < self._due or (self._thread is not None and self._thread.is_alive()):
            return
        self._due = self._now() + AGAIN
        self._thread = threading.Thread(target=self._renew, name="gatepost-renewal", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """For what is under way: a swap must not come after the end."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _renew(self) -> None:
        started = time.monotonic()
        try:
            renew(self._base_url, self._files)
            leaf = self._files.leaf()
            if leaf != self._leaf:  # by us, or by another program that shares the files
                self._swap()
                self._leaf, self._due = leaf, renewable_from(leaf)
                log.info("certificate renewed in %.1f s", time.monotonic() - started)
        except GatepostError as error:
            log.warning("certificate not renewed: %s", error)
