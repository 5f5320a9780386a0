"""Reads what came along in the wheel: units, samples, templates, locks (see pyproject.toml)."""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import gatepost
from gatepost.install.steps import Failure

_PLACE = re.compile(r"@([a-z_]+)@")
_COMMENTS = re.compile(r"^(?:(?:#|--).*)?\n", re.MULTILINE)


@dataclass(frozen=True)
class Release:
    """The release whose wheel this runs out of."""

    wheel: Path

    @property
    def version(self) -> str:
        return gatepost.__version__

    @cached_property
    def units(self) -> dict[str, bytes]:
        """The files that go into systemd's folder, by their path there."""
        folder = self._shipped() / "systemd"
        return {
            name: content
            for name, content in _files(folder)
            if "/" in name or name.rpartition(".")[2] in ("service", "timer", "target")
        }

    def read(self, name: str) -> bytes:
        return self._shipped().joinpath(*name.split("/")).read_bytes()

    def sample(self, package: str) -> str:
        """Return the config.yaml that is beside the code of a service, or of a part of one."""
        return (resources.files(package) / "config.yaml").read_text()

    def _shipped(self) -> Traversable:
        return resources.files("gatepost.install") / "shipped"


def this_release() -> Release:
    place = Path(gatepost.__file__).parents[1]
    if not zipfile.is_zipfile(place):
        raise Failure(
            "The installer runs out of a wheel:\n"
            "  PYTHONPATH=gatepost-VERSION-py3-none-any.whl python3 -P -m gatepost.install"
        )
    return Release(place.resolve())


def shipped_file(name: str) -> Path:
    """Return where the file is: in a release, or in a checkout, which doesn't ship it."""
    package = Path(gatepost.__file__).parent
    there = package / "install" / "shipped" / name
    return there if there.exists() else package.parent / "infra" / name


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with each `@name@` filled, without its comments."""
    return _PLACE.sub(lambda place: values[place[1]], _COMMENTS.sub("", template))


def names_in(template: str) -> list[str]:
    """Return the names whose value a template wants."""
    return sorted(set(_PLACE.findall(_COMMENTS.sub("", template))))


def _files(folder: Traversable, before: str = "") -> list[tuple[str, bytes]]:
    found = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _files(one, f"{before}{one.name}/")
        else:
            found.append((before + one.name, one.read_bytes()))
    return sorted(found)
