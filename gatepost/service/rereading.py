"""The settings of a running service, read again when it is asked to (SIGHUP).

All of it is taken up, or nothing: what is wrong, and what can't change while the service runs, is
refused in words. The log's level changes in place; for anything else processes are replaced.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from gatepost.config.settings import ServiceSettings
from gatepost.errors import ConfigurationError
from gatepost.logs import Level
from gatepost.service.supervisor import Child, Main

S = TypeVar("S", bound=ServiceSettings)


class Rereading(Generic[S]):
    """The settings, and how to read them again. `fixed` gives what a supervisor was started with:
    its ports, its number of processes."""

    def __init__(
        self,
        settings: S,
        read: Callable[[], S],
        fixed: Callable[[S], object],
        level: Level,
        child: Callable[[S, Child], Any],
    ) -> None:
        self._settings = self._found = settings
        self._read = read
        self._fixed = fixed
        self._level = level
        self._child = child

    def main(self, settings: S) -> Main:
        return lambda handle: self._child(settings, handle)

    def read_again(self) -> Main | None:
        self._found = found = self._read()
        if self._fixed(found) != self._fixed(self._settings):
            raise ConfigurationError("ports and the number of processes change with a restart only")
        unchanged = found == self._settings.model_copy(update={"log": found.log})
        return None if unchanged else self.main(found)

    def take_up(self) -> None:
        self._settings = self._found
        self._level.settle(self._found.log.level)
