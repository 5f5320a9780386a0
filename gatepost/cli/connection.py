"""Where the gateway is and who we are to it: options, environment, configuration file, checkout.

Each setting comes from the first place that has it, but a certificate and its key come together.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gatepost.cli.failure import Failure
from gatepost.cli.options import Options

SETTINGS = ("url", "ca", "cert", "key")
_FILES = ("ca", "cert", "key")
_TOGETHER = (("url",), ("ca",), ("cert", "key"))
_HOW = """\
Give --url, --ca, --cert and --key,
or set GATEPOST_URL, GATEPOST_CA, GATEPOST_CERT and GATEPOST_KEY,
or write url, ca, cert and key to {file},
or work in a checkout in which `./dev up` has started a gateway."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place where settings are found; `name` is how it is called in words."""

    name: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Connection:
    """All that a client needs, and for each setting the name of its place."""

    url: str
    ca: str
    cert: str
    key: str
    origin: Mapping[str, str]


def find_connection(options: Options, environment: Mapping[str, str], folder: Path) -> Connection:
    file = configuration_file(environment)
    return resolve(_places(options, environment, file, folder), _HOW.format(file=file))


def resolve(places: Iterable[Place], how: str) -> Connection:
    """No place is looked into after everything is known: it might be unreadable for nothing."""
    settings: dict[str, str] = {}
    origin: dict[str, str] = {}
    for place in places:
        for group in _TOGETHER:
            if settings.keys().isdisjoint(group):
                found = {name: place.settings[name] for name in group if name in place.settings}
                settings |= found
                origin |= dict.fromkeys(found, place.name)
        if len(settings) == len(SETTINGS):
            return Connection(**settings, origin=origin)
    missing = [name for name in SETTINGS if name not in settings]
    raise Failure("usage", f"No gateway is set up here: {', '.join(missing)} missing.", how)


def configuration_file(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base else _home() / ".config") / "gatepost" / "config.toml"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without a name, as in some containers
        return Path("/")


def _places(
    options: Options, environment: Mapping[str, str], file: Path, folder: Path
) -> Iterator[Place]:
    yield Place("the options", _given({name: getattr(options, name) for name in SETTINGS}))
    variables = {name: environment.get(f"GATEPOST_{name.upper()}") for name in SETTINGS}
    yield Place("the environment", _given(variables))
    yield from _configured(file)
    yield from _development(folder)


def _given(settings: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items() if value}


def _configured(file: Path) -> Iterator[Place]:
    try:
        settings = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise Failure("usage", f"{file} can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise Failure("usage", f"{file} is not TOML: {error}.") from None
    for name, value in settings.items():
        if name not in SETTINGS or not isinstance(value, str):
            words = f"{file}: {name!r} is not one of url, ca, cert and key, each a text."
            raise Failure("usage", words)
    yield Place(str(file), _beside(file.parent, settings))


def _beside(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """File names in a file are meant from where the file is."""
    return {
        name: str(folder / Path(value).expanduser()) if name in _FILES else value
        for name, value in settings.items()
    }


def _development(folder: Path) -> Iterator[Place]:
    """The stack that `./dev up` started in this checkout, if we are in one.

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
        yield Place(str(file), _beside(root, _of_status(status)))
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
