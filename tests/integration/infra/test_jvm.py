"""Where Java and the ledger's driver come from, on machines that lack them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from infra.dev import jvm
from infra.dev.steps import Failure


def make_java(home: Path, version: int) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch(mode=0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}.0.2"\n')
    return home


@pytest.fixture
def no_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.dev.apt.available", lambda: False)


def test_the_java_of_the_path_is_taken_if_it_is_recent_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_apt: None
) -> None:
    old, new = make_java(tmp_path / "old", 11), make_java(tmp_path / "new", 21)
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(new / "bin"))
    assert jvm.find_java(tmp_path / "engines") == new
    monkeypatch.setenv("PATH", str(old / "bin"))
    with pytest.raises(Failure, match="Java 17 or later"):
        jvm.find_java(tmp_path / "engines")


def test_else_it_is_unpacked_with_its_settings_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Debian package has links to /etc, which is not where we unpack it."""
    asked = []

    def unpack(packages: list[str], folder: Path) -> None:
        asked.append(packages)
        if "21" in packages[0]:
            raise Failure("This release has another.")
        home = make_java(folder / "usr" / "lib" / "jvm" / "java-17", 17)
        (folder / "etc" / "java").mkdir(parents=True)
        (folder / "etc" / "java" / "security").write_text("ours")
        (home / "conf").symlink_to("/etc/java")
        (home / "elsewhere").symlink_to("/not/unpacked")

    monkeypatch.setattr("infra.dev.apt.available", lambda: True)
    monkeypatch.setattr("infra.dev.apt.unpack", unpack)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    home = jvm.find_java(tmp_path / "engines")
    assert home.is_relative_to(tmp_path)
    assert (home / "conf" / "security").read_text() == "ours"
    assert asked == [["openjdk-21-jre-headless"], ["openjdk-17-jre-headless"]]
    assert jvm.find_java(tmp_path / "engines") == home
    assert len(asked) == 3  # nothing new but for the release that isn't there


def test_the_driver_is_a_jar_with_the_class_that_spark_is_told(tmp_path: Path) -> None:
    jar = jvm.find_driver()
    found = subprocess.run(
        [shutil.which("python3") or "python3", "-m", "zipfile", "-l", str(jar)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert "org/mariadb/jdbc/Driver.class" in found.stdout


def test_without_apt_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_apt: None
) -> None:
    monkeypatch.setattr(jvm, "DRIVER", Path("nowhere/driver.jar"))
    with pytest.raises(Failure, match="Install libmariadb-java"):
        jvm.find_driver(tmp_path / "engines")
