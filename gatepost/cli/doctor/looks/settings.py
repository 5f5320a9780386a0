"""Looks at whether the settings can be used, and whether what is secret is kept secret."""

import stat
from collections.abc import Iterator

from pydantic import SecretStr

from gatepost.cli.doctor.look import Finding, Look, fine, unknown, warning, wrong
from gatepost.cli.doctor.site import Part, Site
from gatepost.config.settings import ServiceSettings, named
from gatepost.errors import ConfigurationError

AS_ROOT = "sudo gatepost doctor"


def see_settings(site: Site) -> Iterator[Finding]:
    for part in site.parts.values():
        if part.settings is None:
            words = f"{part.name}: {part.trouble}"
            yield unknown(words, AS_ROOT) if part.forbidden else wrong(words)
            continue
        found = list(_files(part, part.settings))
        yield from found or [fine(f"{part.name}: {part.file} is in order")]


def _files(part: Part, settings: ServiceSettings) -> Iterator[Finding]:
    """Yield the faults of files that the settings name, read as the service reads them at its
    start. Another look says which are open to others."""
    faults = settings.faults()
    for read in part.service.files(settings) if part.service else (settings.try_files,):
        try:
            read()
        except ConfigurationError as error:
            if isinstance(error.__context__, PermissionError):
                yield unknown(f"{part.name}: {error.detail}", AS_ROOT)
            elif not any(fault.endswith(error.detail) for fault in faults):
                yield wrong(f"{part.name}: {error.detail}")


def see_secrets(site: Site) -> Iterator[Finding]:
    for part, settings in site.readable():
        strictly = wrong if settings.environment == "production" else warning
        faults = [*settings.faults(), *_open_secrets(part, settings)]
        for fault in faults:
            yield strictly(f"{part.name}: {fault}", command_in(fault))
        if not faults:
            yield fine(f"{part.name}: passwords are strong, and private files are private")


def _open_secrets(part: Part, settings: ServiceSettings) -> Iterator[str]:
    """Yield a fault if a file of settings has a password in it and others can read it."""
    secrets = set(named(type(settings), SecretStr))
    written = [n for n, origin in (part.origins or {}).items() if origin == str(part.file)]
    if secrets & set(written) and part.file.stat().st_mode & stat.S_IROTH:
        yield f"{part.file} has a password in it, and can be read by others: chmod 640 {part.file}"


def command_in(fault: str) -> str | None:
    """Return the command that mends the fault: faults of files end with it."""
    _, colon, command = fault.rpartition(": ")
    return command if colon and command.startswith("chmod ") else None


LOOKS = (
    Look(
        name="settings",
        at="each service's settings and those of the night, and the files that services name",
        why="with settings that can't be used nothing starts again, and nothing happens at night",
        mend="gatepost config check",
        see=see_settings,
    ),
    Look(
        name="secrets",
        at="passwords out of samples; private files, the master key and its folder, open to others",
        why="who can read a key can read messages, or send as somebody else",
        mend="gatepost config check",
        see=see_secrets,
    ),
)
