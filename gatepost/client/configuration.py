"""Reads the configuration file of a client, as `gatepost enrol` writes it: where the gateway is,
and who we are to it."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gatepost.client.errors import NotSetUp

FILES = ("ca", "cert", "key")
NEEDED = ("url", *FILES)
NAMES = (*NEEDED, "proxy")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The address to send to, the files to send by, and the proxy to send through, if any."""

    url: str
    ca: str
    cert: str
    key: str
    proxy: str | None = None


def configuration_file(environment: Mapping[str, str]) -> Path:
    named = environment.get("XDG_CONFIG_HOME")
    folder = Path(named) if named else home() / ".config"
    return folder / "gatepost" / "config.toml"


def home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without a name, as in some containers
        return Path("/")


def read_configuration(file: str | os.PathLike[str] | None = None) -> Configuration:
    """Return the configuration in a file, or in this user's; raise NotSetUp if there is none that
    can be used."""
    path = configuration_file(os.environ) if file is None else Path(file)
    found = read_settings(path)
    if found is None:
        raise NotSetUp(f"There is no {path}: enrol first (gatepost enrol URL), or name another.")
    if missing := [name for name in NEEDED if name not in found]:
        raise NotSetUp(f"{path} lacks {', '.join(missing)}.")
    return Configuration(**found)


def read_settings(file: Path) -> dict[str, str] | None:
    """Return the settings in a file, None if there is no such file. File names in it are relative
    to its own folder."""
    try:
        settings = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotSetUp(f"{file} can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise NotSetUp(f"{file} is not TOML: {error}.") from None
    for name, value in settings.items():
        if name not in NAMES or not isinstance(value, str):
            words = f"{file}: {name!r} is not one of {', '.join(NAMES[:-1])} and {NAMES[-1]}"
            raise NotSetUp(f"{words}, each a text.")
    return beside(file.parent, settings)


def beside(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    return {
        name: str(folder / Path(value).expanduser()) if name in FILES else value
        for name, value in settings.items()
    }
