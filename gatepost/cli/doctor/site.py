"""The machine that is looked at: the services that have settings here, and these settings.

They are found as `gatepost config check` finds them; in a checkout, those of the stack that
`./dev up` runs in it. A service whose settings can't be read is there all the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from gatepost.cli.configuration import checkouts_of, file_of, is_running
from gatepost.cli.configuring import configured, settings_class
from gatepost.cli.doctor.systemd import Systemd
from gatepost.cli.failure import Failure
from gatepost.config.settings import ServiceSettings, load_with_origins
from gatepost.errors import ConfigurationError
from gatepost.service.entry import Service

S = TypeVar("S", bound=ServiceSettings)
TEMPLATES = ("proxy", "worker")
"""The services of which a machine may run several."""


@dataclass(frozen=True, slots=True)
class Part:
    """A service, or something else that has settings, on this machine. Either its settings could be
    read, or `trouble` says why not; `forbidden` means that it is for want of rights."""

    name: str
    file: Path
    service: Service[Any] | None
    settings: ServiceSettings | None = None
    origins: Mapping[str, str] | None = None
    trouble: str | None = None
    forbidden: bool = False


@dataclass(frozen=True)
class Site:
    folder: Path
    checkout: bool
    """True if this is a stack of `./dev up`, and not a machine with systemd."""
    parts: Mapping[str, Part]

    def of(self, name: str, kind: type[S]) -> S | None:
        """Return the settings of that name; None if there are none here, or none that can be used:
        one look says so."""
        part = self.parts.get(name)
        return part.settings if part is not None and isinstance(part.settings, kind) else None

    def readable(self) -> Iterator[tuple[Part, ServiceSettings]]:
        for part in self.parts.values():
            if part.settings is not None:
                yield part, part.settings

    @property
    def production(self) -> bool:
        return any(settings.environment == "production" for _, settings in self.readable())

    @cached_property
    def systemd(self) -> Systemd | None:
        """The machine's systemd; None where it doesn't run, or runs another site than this."""
        return None if self.checkout else Systemd.find()

    def start(self, service: str, again: bool = False) -> str:
        """Return the command that starts a service, or what is called so, `again` if it runs."""
        if self.checkout:
            again = again or is_running(self.folder)
            return "./dev down && ./dev up --detach" if again else "./dev up --detach"
        unit = f"gatepost-{service.replace('_', '-')}"
        unit += "@1" if service in TEMPLATES else ""
        return f"systemctl {'restart' if again else 'start'} {unit}"

    def at_night(self, unit: str, command: str) -> str:
        """Return the command that does what a unit does. Where there are units they should do it,
        as their own users. A unit that has failed may have no start left, so it is reset first."""
        if self.systemd is None or not (units := self.systemd.units):
            return command
        failed = units.get(f"{unit}.service", {}).get("ActiveState") == "failed"
        again = f"systemctl reset-failed {unit} && " if failed else ""
        return f"{again}systemctl start {unit}"


def find_site(folder: Path, here: Path, *, given: bool) -> Site:
    """Return the site; raise Failure if nothing is there. `given` says that the folder was named,
    so that no other will do."""
    places = [folder] if given else [folder, *checkouts_of(here)]
    for place in places:
        parts = {part.name: part for part in _parts(place)}
        if parts:
            return Site(place, _is_checkout(place), parts)
    words = f"There is no SERVICE/config.yaml in {folder}."
    raise Failure("usage", words, "Name the folder: gatepost doctor --folder FOLDER.")


def _is_checkout(place: Path) -> bool:
    return (place.parent / "run" / "supervisor.lock").exists()


def _parts(folder: Path) -> Iterator[Part]:
    for name, one in configured().items():
        file, service = folder / name, one if isinstance(one, Service) else None
        try:
            file = file_of(folder, name)
            if not file.is_file():
                continue
            settings, origins = load_with_origins(settings_class(one), file)
            yield Part(name, file, service, settings, origins)
        except PermissionError:
            yield Part(name, file, service, trouble=f"{file} may not be read", forbidden=True)
        except ConfigurationError as error:
            denied = isinstance(error.__context__, PermissionError)
            yield Part(name, file, service, trouble=error.detail, forbidden=denied)
