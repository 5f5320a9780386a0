"""All that has settings is in one list, which the reference page, `gatepost config`, `gatepost
doctor` and the archive for support go by."""

import ast
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from gatepost.cli.configuring import configured, settings_class
from gatepost.cli.doctor.secrets import secrets_of
from gatepost.cli.doctor.site import find_site
from gatepost.cli.main import run
from gatepost.config.settings import ServiceSettings, leaves
from gatepost.install.configuration import (
    DATABASE_PASSWORDS,
    PASSPHRASE,
    REDIS_PASSWORDS,
    SAMPLES,
)
from infra.dev.paths import ROOT

PACKAGES = ("gatepost", "proxy", "worker", "main_server", "portal", "analytics", "migrations")
CREDENTIALS = sorted({*DATABASE_PASSWORDS.values(), *REDIS_PASSWORDS.values(), PASSPHRASE})


def settings_in_the_tree() -> Iterator[type[ServiceSettings]]:
    """Found by what they are called and derived from, so that only these modules are imported."""
    for file in (one for top in PACKAGES for one in sorted((ROOT / top).rglob("*.py"))):
        for node in ast.parse(file.read_text()).body:
            bases = node.bases if isinstance(node, ast.ClassDef) else []
            if any("Settings" in ast.unparse(base) for base in bases):
                module = import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
                found = getattr(module, getattr(node, "name", ""))
                if issubclass(found, ServiceSettings):
                    yield found


def names(settings: type[ServiceSettings]) -> set[str]:
    return {name for name, _ in leaves(settings)}


def test_all_settings_are_in_the_list() -> None:
    """What isn't is the part of another file that some command needs."""
    listed, found = [settings_class(one) for one in configured().values()], set()
    for one in settings_in_the_tree():
        found.add(one)
        if one not in listed:
            assert one.model_config.get("extra") == "ignore", f"{one} is not configured"
            assert any(names(one) <= names(other) for other in listed), f"{one} is not configured"
    assert set(listed) <= found
    assert len(found) > len(listed)


def test_each_file_of_settings_is_of_one_in_the_list() -> None:
    assert set(SAMPLES) == set(configured())
    shipped = {ROOT / package.replace(".", "/") / "config.yaml" for package, _ in SAMPLES.values()}
    assert shipped == {file for top in PACKAGES for file in (ROOT / top).rglob("config.yaml")}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The samples, and a credential of each name, as `gatepost install` puts them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    folder = tmp_path / "etc"
    for name, (package, _) in SAMPLES.items():
        (folder / name / "credentials").mkdir(parents=True)
        sample = ROOT / package.replace(".", "/") / "config.yaml"
        (folder / name / "config.yaml").write_text(sample.read_text())
    for name in CREDENTIALS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{canary(name)}\n")
        (folder / name).chmod(0o600)
    return folder


def canary(name: str) -> str:
    return f"canary-of-{name.replace('/', '-')}-4711"


@pytest.mark.parametrize("name", CREDENTIALS)
def test_no_password_of_a_machine_goes_to_support(machine: Path, name: str) -> None:
    assert canary(name).encode() in secrets_of(find_site(machine, machine, given=True))


def test_nor_one_of_settings_that_can_not_be_used(machine: Path) -> None:
    for file in machine.glob("*/config.yaml"):
        file.write_text("extra: 1\n")
    found = secrets_of(find_site(machine, machine, given=True))
    assert {canary(name).encode() for name in CREDENTIALS} <= found


def test_nor_one_that_stands_in_the_file_itself(machine: Path) -> None:
    conf = {"spark.hadoop.fs.s3a.secret.key": "written-in-conf"}
    for name, section, given in (
        ("backup", "drill", {"password": "written-in-backup"}),
        ("retention", "database", {"password": "written-in-retention"}),
        ("analytics", "spark", {"conf": conf}),
    ):
        shutil.rmtree(machine / name / "credentials")
        file = machine / name / "config.yaml"
        tree = yaml.safe_load(file.read_text())
        tree[section] |= given
        file.write_text(yaml.safe_dump(tree))
    found = secrets_of(find_site(machine, machine, given=True))
    for name in ("backup", "retention", "conf"):
        assert f"written-in-{name}".encode() in found


@pytest.mark.parametrize("name", ["backup", "retention", "migration", "analytics"])
def test_each_is_checked_and_shown(
    machine: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = machine / name / "config.yaml"
    assert run(["config", "show", name, "--folder", str(machine)]) == 0
    said = capsys.readouterr().out
    assert "database.password = ********" in said
    assert "canary" not in said
    (machine / name / "credentials" / "database.password").write_text("password1\n")
    assert run(["config", "check", name, "--folder", str(machine)]) == 2
    assert "its password is from a sample" in capsys.readouterr().out
    file.write_text(file.read_text() + "\nextra: 1\n")
    run(["config", "check", "--folder", str(machine)])
    assert f"{name}: {file} can't be used" in capsys.readouterr().out.replace("\n", " ")
