"""Checks and shows settings, for `gatepost config check` and `gatepost config show`."""

import os
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import SecretStr

from gatepost.cli.commands import GROUP
from gatepost.cli.configuration import FOLDER, checkouts_of, file_of
from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.config.settings import (
    Listen,
    ServiceSettings,
    leaves,
    load,
    load_with_origins,
    misnamed,
    refuse_unsafe,
    value_of,
)
from gatepost.errors import ConfigurationError
from gatepost.service.entry import Service

CONFIGURED = f"{GROUP}.configured"
"""The entry points, by a service's name: each is a gatepost.service.entry.Service, or the class of
its settings where it is no service."""
COMPARED = f"{GROUP}.compared"
"""The entry points that, given the folder, say in words what there differs from the ledger."""
HIDDEN = "********"

Configured: TypeAlias = Service[Any] | type[ServiceSettings]


def configured() -> dict[str, Configured]:
    """Return what is installed here and has settings, by its name."""
    found = sorted(entry_points(group=CONFIGURED), key=lambda entry: entry.name)
    return {entry.name: entry.load() for entry in found}


def settings_class(one: Configured) -> type[ServiceSettings]:
    return one.settings if isinstance(one, Service) else one


def check(given: Path | None, services: list[str], *, json: bool) -> None:
    output, read, folder = Output(json=json), {}, _folder(given)
    mistakes: list[tuple[str, str]] = []
    for name, one, file in _wanted(folder, services):
        try:
            read[name] = _read(one, file)
            _tell(output, name, f"{file} is in order", ok=True)
        except ConfigurationError as error:
            mistakes += [(name, line) for line in error.detail.splitlines()]
    mistakes += [("all", words) for words in disagreements(read)]
    notes = [("environment", words) for words in misnamed(os.environ)]
    for entry in entry_points(group=COMPARED):
        try:
            notes += [(entry.name, words) for words in entry.load()(folder)]
        except ConfigurationError as error:
            mistakes += [(entry.name, line) for line in error.detail.splitlines()]
    for name, words in notes:
        _tell(output, name, words, ok=True)
    for name, words in mistakes:
        _tell(output, name, words, ok=False)
    if mistakes:
        raise Failure("usage", "The settings can't be used as they are.")


def show(given: Path | None, service: str, file: Path | None, *, json: bool) -> None:
    output = Output(json=json)
    kind = settings_class(_known(service))
    try:
        settings, origins = load_with_origins(kind, file or _there(_folder(given), service))
    except ConfigurationError as error:
        raise Failure("usage", error.detail) from None
    for name, _ in leaves(kind):
        value, origin = shown(settings, name), origins.get(name, "default")
        if json:
            output.result({"name": name, "value": value, "from": origin})
        else:
            output.say((name, "bold"), f" = {value}  ", (f"({origin})", "dim"))


def shown(settings: ServiceSettings, name: str) -> Any:
    """Return the value of a setting as it may be seen: a secret is masked."""
    value = value_of(settings, name)
    if isinstance(value, SecretStr):
        return HIDDEN if value.get_secret_value() else ""
    return str(value) if isinstance(value, Path) else value


def disagreements(read: Mapping[str, ServiceSettings]) -> Iterator[str]:
    """Yield, in words, what is right for each service but wrong for all together on one machine."""
    queues = {name: s.redis.queue_name for name, s in read.items() if hasattr(s, "redis")}
    if len(set(queues.values())) > 1:
        said = ", ".join(f"{name} {queue}" for name, queue in sorted(queues.items()))
        yield f"redis.queue_name must be the same everywhere: {said}"
    taken: dict[int, str] = {}
    for name, settings in read.items():
        for field in type(settings).model_fields:
            if isinstance(block := getattr(settings, field), Listen):
                place = f"{name} {field}.port"
                if (other := taken.setdefault(block.port, place)) != place:
                    yield f"{other} and {place} are the same: {block.port}"


def _read(one: Configured, file: Path) -> ServiceSettings:
    if isinstance(one, Service):
        settings: ServiceSettings = one.read(file)
        return settings
    settings = load(one, file)
    settings.try_files()
    refuse_unsafe(settings)
    return settings


def _folder(given: Path | None) -> Path:
    """Return the folder that was named, else the first one that has settings of anything."""
    if given is not None:
        return given
    places = [FOLDER, *checkouts_of(Path.cwd())]
    found = (place for place in places if any(file_of(place, n).exists() for n in configured()))
    return next(found, FOLDER)


def _there(folder: Path, service: str) -> Path:
    if not (file := file_of(folder, service)).exists():
        words = f"No settings were found: there is no {file}."
        raise Failure("usage", words, "Name the file: --config FILE.")
    return file


def _wanted(folder: Path, services: list[str]) -> list[tuple[str, Configured, Path]]:
    names = services or [name for name in configured() if file_of(folder, name).exists()]
    if not names:
        words = f"There is no SERVICE/config.yaml in {folder}."
        raise Failure("usage", words, "Name the folder: --folder FOLDER.")
    return [(name, _known(name), file_of(folder, name)) for name in names]


def _known(service: str) -> Configured:
    known = configured()
    if service not in known:
        words = f"There is no service {service} here."
        raise Failure("usage", words, f"There are: {', '.join(known)}.")
    return known[service]


def _tell(output: Output, name: str, words: str, *, ok: bool) -> None:
    if output.json:
        output.result({"about": name, "ok": ok, "words": words.strip()})
    else:
        output.say((name, "green" if ok else "red"), f": {words.strip()}")
