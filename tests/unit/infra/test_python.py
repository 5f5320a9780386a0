"""The user's pip configuration reaches uv, nothing else of it does; and what uv keeps is tidied."""

import subprocess
from pathlib import Path

import pytest

from infra.dev import python
from infra.dev.paths import BOOT, CACHE
from infra.dev.python import make_environment, point_relatively, translate


def test_each_setting_gets_the_name_that_uv_knows() -> None:
    listing = "\n".join(
        [
            "global.index-url='https://packages.example/simple'",
            "global.cert='/etc/ssl/ours.pem'",
            "global.default-timeout='180'",
            "global.disable-pip-version-check='1'",
        ]
    )
    assert translate(listing) == {
        "UV_DEFAULT_INDEX": "https://packages.example/simple",
        "SSL_CERT_FILE": "/etc/ssl/ours.pem",
        "UV_HTTP_TIMEOUT": "180",
    }


def test_several_values_are_separated_as_uv_wants_them() -> None:
    listing = "global.extra-index-url='\\nfile:///a\\nfile:///b'\nglobal.find-links='/x /y'"
    assert translate(listing) == {
        "UV_INDEX": "file:///a file:///b",
        "UV_FIND_LINKS": "/x,/y",
    }


def test_the_environment_wins_over_files_and_install_over_global() -> None:
    listing = ":env:.cert='/env'\nglobal.cert='/global'\ninstall.proxy='b'\nglobal.proxy='a'"
    assert translate(listing) == {"SSL_CERT_FILE": "/env", "ALL_PROXY": "b"}


def test_settings_of_other_commands_are_left_alone() -> None:
    assert translate("download.index-url='https://elsewhere.example'\n") == {}


def test_only_a_cache_of_ours_is_tidied(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(python, "run", lambda _, command, **__: commands.append(command))
    for environment in ({}, {"UV_CACHE_DIR": "/home/somebody/.cache/uv"}):
        python.tidy_cache(environment)
    assert commands == []
    python.tidy_cache({"UV_CACHE_DIR": str(CACHE / "uv")})
    assert commands == [[str(BOOT / "bin" / "uv"), "cache", "prune", "--quiet"]]


def test_python_starts_in_a_folder_with_umlauts_by_the_locale_of_c(tmp_path: Path) -> None:
    """With what `pip install --editable` leaves there Python 3.11 doesn't."""
    root = tmp_path / "Größe"
    (root / "ours").mkdir(parents=True)
    venv = root / "var" / "venv"
    make_environment(venv)
    (packages,) = venv.glob("lib/python3*/site-packages")
    (packages / "_ours.pth").write_text(str(root), encoding="utf-8")
    (packages / "others.pth").write_text("import sys\n")
    point_relatively(packages, root)
    command = [str(venv / "bin" / "python"), "-c", "import ours; print(*ours.__path__)"]
    said = subprocess.run(command, capture_output=True, env={"LC_ALL": "C"}, cwd="/", check=True)
    assert said.stdout.decode().strip() == f"{root}/ours"
    assert (packages / "others.pth").read_text() == "import sys\n"
