"""What befalls the two stores and their disk."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.chaos.faults.fault import Fault
from tests.chaos.refusals import (
    DELIVERS,
    ONE_OF_EIGHT,
    TOO_LONG,
    refuse_changes,
    refuse_no_more,
)

if TYPE_CHECKING:
    from tests.chaos.keeper import Held
    from tests.chaos.site import Site

STORES = ("redis", "mariadb")


class PowerCut(Fault):
    """The power fails for both stores at one instant: what no fsync brought to the disk is gone.

    They are stopped first, so that neither acknowledges anything in its last moment.
    """

    name: ClassVar[str] = "power-cut"
    _holds: Held | None = None

    def holds(self) -> set[str]:
        return {*STORES, "disk"}

    def begin(self, site: Site) -> None:
        assert site.disk is not None
        self._holds = site.keeper.hold(*STORES)
        for store in STORES:
            with suppress(ProcessLookupError):  # it is about to be started again
                os.killpg(site.child(store).pid, signal.SIGSTOP)
        site.disk.cut_power()
        for store in STORES:
            site.child(store).kill()

    def end(self, site: Site) -> None:
        if self._holds is None:
            return
        assert site.disk is not None
        for store in STORES:
            site.child(store).kill()  # who lives has the disk open
        site.disk.power_up()
        self._holds.let_go()


class SomeRefused(Fault):
    """The ledger won't have one delivery of eight, which must be tried again, beside the others."""

    name: ClassVar[str] = "some-refused"

    def holds(self) -> set[str]:
        return {self.target, "disk"}

    def begin(self, site: Site) -> None:
        site.wait_ready("mariadb")  # it may be about to come back from another fault
        with site.mariadb.connect() as connection:
            refuse_changes(connection, "UPDATE", f"{DELIVERS} AND {ONE_OF_EIGHT}", TOO_LONG)

    def end(self, site: Site) -> None:
        with site.mariadb.connect() as connection:
            refuse_no_more(connection)


class DiskFull(Fault):
    """No block is left for the target ("redis", "mariadb"), or for either ("disk").

    They run before it begins: a MariaDB that starts on a full disk looks again each minute only,
    and would be away for long after the fault.
    """

    name: ClassVar[str] = "disk-full"

    def holds(self) -> set[str]:
        return {"disk", *(STORES if self.target == "disk" else [self.target])}

    def begin(self, site: Site) -> None:
        assert site.disk is not None
        for store in STORES if self.target == "disk" else [self.target]:
            site.wait_ready(store)
        spared = {"redis": site.mariadb.owner, "mariadb": site.redis.owner}.get(self.target)
        site.disk.fill(spared.uid if spared else None)

    def end(self, site: Site) -> None:
        assert site.disk is not None
        site.disk.empty()


class FlushAll(Fault):
    """Somebody empties Redis: all that only it had is gone."""

    name: ClassVar[str] = "flushall"
    destroys: ClassVar[bool] = True

    def begin(self, site: Site) -> None:
        site.wait_ready("redis")  # it may be about to come back from another fault
        with site.operator() as client:
            client.flushall()


@dataclass
class CutAof(Fault):
    """Redis dies, and comes back with an append-only file that has lost its last bytes."""

    name: ClassVar[str] = "aof-cut"
    destroys: ClassVar[bool] = True
    lost_bytes: int = 20_000
    _holds: Held | None = field(default=None, init=False)

    def begin(self, site: Site) -> None:
        self._holds = site.keeper.hold("redis")
        site.child("redis").kill()
        file = _newest_log(site.redis.folder)
        os.truncate(file, max(0, file.stat().st_size - self.lost_bytes))

    def end(self, _site: Site) -> None:
        if self._holds is not None:
            self._holds.let_go()


class MemoryFull(Fault):
    """Redis has as much as it may have: it refuses what would need more."""

    name: ClassVar[str] = "maxmemory"
    _before: str | None = None

    def begin(self, site: Site) -> None:
        with site.operator() as client:
            found: dict[str, str] = client.config_get("maxmemory")
            self._before = found["maxmemory"]
            used: dict[str, int] = client.info("memory")
            client.config_set("maxmemory", used["used_memory"])

    def end(self, site: Site) -> None:
        if self._before is not None:
            with site.operator() as client:
                client.config_set("maxmemory", self._before)


class RedisSleeps(Fault):
    """DEBUG SLEEP: Redis does one thing, for long, and answers nobody."""

    name: ClassVar[str] = "debug-sleep"

    def begin(self, site: Site) -> None:
        url = site.redis.url()
        client = redis.Redis.from_url(url, socket_timeout=0.1, retry=Retry(NoBackoff(), 0))
        with client, suppress(redis.TimeoutError):
            debug: Any = client.execute_command
            debug("DEBUG", "SLEEP", str(self.seconds))


def _newest_log(folder: Path) -> Path:
    """The file that Redis appends to now."""
    files = folder.glob("appendonlydir/*.incr.aof")
    return max(files, key=lambda file: int(file.name.split(".")[-3]))
