"""The wheel of this checkout, and releases of any version out of it."""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gatepost.install.shipped import Release
from infra.dev.commands.build import build
from infra.dev.paths import ROOT


@dataclass(frozen=True)
class Versioned(Release):
    """What it ships is read out of the wheel, not out of the checkout."""

    named: str = "1.0.0"

    @property
    def version(self) -> str:
        return self.named

    def _shipped(self) -> zipfile.Path:
        return zipfile.Path(self.wheel) / "gatepost" / "install" / "shipped"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture
def release(wheel: Path) -> Callable[[str], Release]:
    return lambda version: Versioned(wheel, version)
