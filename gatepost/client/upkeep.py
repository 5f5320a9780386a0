"""Keeps a client's certificate fresh while the client lives: renews it when it is time, and takes
it up when it is renewed, by whomever.

Requests that are under way go on over the connections that they began on, so none fails by this.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from gatepost.client.errors import GatepostError
from gatepost.client.files import Files
from gatepost.client.renewing import renew
from gatepost.wire.renewal import renewable_from

log = logging.getLogger("gatepost.client")

AGAIN = timedelta(minutes=5)
LOOK_SECONDS = 1.0
CLOSE_SECONDS = 30.0


class Upkeep:
    """The upkeep of one certificate. It looks at each request, which costs next to nothing, and
    works in a thread of its own, one at most.

    `swap` is called in that thread once the files hold another certificate: renewed by us, if we
    are to, or by another program that shares the files.
    """

    def __init__(
        self,
        base_url: str,
        files: Files,
        swap: Callable[[], None],
        *,
        renew: bool = True,
        proxy: str | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._base_url = base_url
        self._files = files
        self._swap = swap
        self._renews = renew
        self._proxy = proxy
        self._now = now
        self._stamp = files.stamp()
        self._leaf = files.leaf()
        self._due = renewable_from(self._leaf)
        self._look_at = 0.0
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        due = self._renews and self._now() >= self._due
        if due:
            self._due = self._now() + AGAIN
        elif not self._has_changed():
            return
        work = self._renew if due else self._take_up
        self._thread = threading.Thread(target=work, name="gatepost-renewal", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for what is under way: a swap must not come after the end."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _has_changed(self) -> bool:
        """Return whether somebody else has written the files; the disk is asked once a second."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + LOOK_SECONDS
        return self._files.stamp() != self._stamp

    def _renew(self) -> None:
        started = time.monotonic()
        try:
            if renew(self._base_url, self._files, proxy=self._proxy):
                log.info("certificate renewed in %.1f s", time.monotonic() - started)
        except GatepostError as error:
            log.warning("certificate not renewed: %s", error)
        self._take_up()

    def _take_up(self) -> None:
        """Take up the pair in the files, if it is a new one. A pair that doesn't fit together is
        being written just now: the next look finds it."""
        try:
            stamp, leaf = self._files.stamp(), self._files.leaf()
            if leaf != self._leaf:
                self._swap()
                self._leaf, self._due = leaf, renewable_from(leaf)
                log.info("certificate taken up: %s", self._files.cert)
            self._stamp = stamp
        except GatepostError as error:
            log.warning("certificate not taken up: %s", error)
