"""Reads a service's settings from their sources, each over the one before it: its YAML file (with
`${VAR}`), `.env`, the environment under the names of a table, and systemd's credentials.

A credential has the dotted name of its setting: for a secret its content is the value, for a file
its place is. A service is handed them; whoever may look into the folder `credentials` beside the
YAML, as an operator's command, takes them from there.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from gatepost.config.strict_yaml import parse_yaml
from gatepost.errors import ConfigurationError

CREDENTIALS = "CREDENTIALS_DIRECTORY"
BESIDE = "credentials"
"""The folder beside the YAML."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(slots=True)
class Given:
    """The settings that are given, as a tree of sections, and where each came from, by its dotted
    name."""

    tree: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, value: Any, origin: str) -> None:
        tree, *path = self.tree, *name.split(".")
        for part in path[:-1]:
            tree = tree.setdefault(part, {})
            if not isinstance(tree, dict):
                return  # the section itself is wrong, which validation will say
        tree[path[-1]] = value
        self.origins[name] = origin


def read_sources(
    file: Path | None, names: Mapping[str, str], secrets: Iterable[str], files: Iterable[str]
) -> Given:
    """Return what all sources give. `names` are those of the environment; for one of `secrets` a
    credential is the value, for one of `files` it is the file."""
    dotenv, environment = _read_dotenv(Path(".env")), dict(os.environ)
    given = _read_yaml(file, {**dotenv, **environment}) if file else Given()
    for variable, name in names.items():
        if variable in environment:
            given.put(name, environment[variable], f"environment, {variable}")
        elif variable in dotenv:
            given.put(name, dotenv[variable], f".env, {variable}")
    folder = credentials_of(file, environment)
    for name in secrets:
        if folder and (folder / name).is_file():
            given.put(name, _read(folder / name).rstrip("\n"), f"credential {folder / name}")
    for name in files:
        if folder and (folder / name).is_file():
            given.put(name, str(folder / name), "credential")
    return given


def credentials_of(file: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of credentials; None if there is none that may be read: systemd names it to
    a unit's ExecStop as well, and then doesn't let it in."""
    told = environment.get(CREDENTIALS)
    folder = Path(told) if told else file.parent / BESIDE if file else None
    return folder if folder and _may_look(folder) else None


def _may_look(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def _read_yaml(file: Path, environment: Mapping[str, str]) -> Given:
    tree = parse_yaml(file, _read(file))
    if not isinstance(tree, dict):
        raise ConfigurationError(f"{file} must hold a mapping of sections")
    reading = _Yaml(str(file), environment)
    try:
        expanded = reading.expand(tree, "")
    except RecursionError:  # by an alias of what is around it
        raise ConfigurationError(f"{file} is nested too deep") from None
    if reading.missing:
        names = ", ".join(sorted(reading.missing))
        raise ConfigurationError(f"{file} names variables that are not set: {names}")
    return Given(expanded, reading.origins)


class _Yaml:
    """The expansion of `${VAR}` in every string of a file; a name that isn't set is noted, so that
    all are told at once."""

    def __init__(self, file: str, environment: Mapping[str, str]) -> None:
        self._file = file
        self._environment = environment
        self.missing: set[str] = set()
        self.origins: dict[str, str] = {}

    def expand(self, value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {k: self.expand(v, f"{name}.{k}" if name else str(k)) for k, v in value.items()}
        if isinstance(value, list):
            return [self.expand(each, name) for each in value]
        variables = _VARIABLE.findall(value) if isinstance(value, str) else []
        self.origins[name] = ", ".join([self._file, *(f"${one}" for one in variables)])
        return _VARIABLE.sub(self._replace, value) if variables else value

    def _replace(self, match: "re.Match[str]") -> str:
        if match[1] not in self._environment:
            self.missing.add(match[1])
        return self._environment.get(match[1], "")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigurationError(f"{file} can't be read: {reason}") from None


def _read_dotenv(file: Path) -> dict[str, str]:
    return {name: value for name, value in dotenv_values(file).items() if value is not None}
