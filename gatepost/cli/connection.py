"""Finds out where the gateway is and who we are to it: from the options, the environment, the
configuration file, or a checkout.

Each setting comes from the first place that has it, but a certificate and its key come together.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gatepost.cli.failure import Failure
from gatepost.cli.options import Options
from gatepost.client.configuration import (
    NAMES,
    NEEDED,
    beside,
    configuration_file,
    read_settings,
)
from gatepost.client.errors import NotSetUp

_TOGETHER = (("url",), ("ca",), ("cert", "key"), ("proxy",))
_HOW = """\
Give --url, --ca, --cert and --key,
or set GATEPOST_URL, GATEPOST_CA, GATEPOST_CERT and GATEPOST_KEY,
or write url, ca, cert and key to {file},
or work in a checkout in which `./dev up` has started a gateway."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place where settings are found; `name` is how it is called in words."""

    name: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything that a client needs, and for each setting the name of the place it came from."""

    url: str
    ca: str
    cert: str
    key: str
    origin: Mapping[str, str]
    proxy: str | None = None


def find_connection(options: Options, environment: Mapping[str, str], folder: Path) -> Connection:
    file = configuration_file(environment)
    found = resolve(_places(options, environment, file, folder), _HOW.format(file=file))
    proxy = variables(environment).get("proxy")
    if found.proxy is None and proxy is not None:
        return replace(found, proxy=proxy, origin={**found.origin, "proxy": "the environment"})
    return found


def resolve(places: Iterable[Place], how: str) -> Connection:
    """Return the connection that the places give together; raise Failure, with `how`, if any
    setting is missing. No place is looked into once all settings are known: it might be unreadable
    for nothing."""
    settings: dict[str, str] = {}
    origin: dict[str, str] = {}
    for place in places:
        for group in _TOGETHER:
            if settings.keys().isdisjoint(group):
                found = {name: place.settings[name] for name in group if name in place.settings}
                settings |= found
                origin |= dict.fromkeys(found, place.name)
        if settings.keys() >= set(NEEDED):
            return Connection(**settings, origin=origin)
    missing = [name for name in NEEDED if name not in settings]
    raise Failure("usage", f"No gateway is set up here: {', '.join(missing)} missing.", how)


def _places(
    options: Options, environment: Mapping[str, str], file: Path, folder: Path
) -> Iterator[Place]:
    yield Place("the options", _given({name: getattr(options, name) for name in NAMES}))
    yield Place("the environment", variables(environment))
    yield from _configured(file)
    yield from _development(folder)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    return _given({name: environment.get(f"GATEPOST_{name.upper()}") for name in NAMES})


def _given(settings: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items() if value}


def _configured(file: Path) -> Iterator[Place]:
    try:
        settings = read_settings(file)
    except NotSetUp as error:
        raise Failure("usage", str(error)) from None
    if settings is not None:
        yield Place(str(file), settings)


def _development(folder: Path) -> Iterator[Place]:
    """Yield the stack that `./dev up` started in this checkout, if the folder is in one.

    Only a file of our own counts: another user's could name another gateway.
    """
    for root in (folder, *folder.parents):
        file = root / "var" / "status.json"
        try:
            if file.stat().st_uid != os.geteuid():
                continue
            status = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        yield Place(str(file), beside(root, _of_status(status)))
        return


def _of_status(status: Any) -> dict[str, str]:
    if not isinstance(status, dict):
        return {}
    client = status.get("client")
    pair = client if isinstance(client, dict) else {}
    found = {
        "url": status.get("proxy"),
        "ca": status.get("ca"),
        "cert": pair.get("cert"),
        "key": pair.get("key"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}
