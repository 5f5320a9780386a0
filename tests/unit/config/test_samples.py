"""The samples: what is shipped can be used as it is, once there are secrets and certificates."""

import re
import secrets
from pathlib import Path

import pytest
import yaml
from dotenv import dotenv_values

from gatepost.cli.configuring import configured, disagreements, settings_class
from gatepost.config.settings import ENVIRONMENT_NAMES, ServiceSettings, load
from gatepost.install.configuration import SAMPLES
from infra.dev.paths import ROOT
from main_server.tenants.domains.seeding import read_domains

GOOD = "kdZ7-h2Lq_94-wTf"
SERVICES = sorted(configured())


@pytest.fixture
def credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As systemd hands them on."""
    monkeypatch.chdir(tmp_path)
    for name in ENVIRONMENT_NAMES:
        monkeypatch.delenv(name, raising=False)
    for name in ("database.password", "redis.password", "source.password", "drill.password"):
        (tmp_path / name).write_text(GOOD)
    key = tmp_path / "keys.master_key_file"
    key.write_bytes(secrets.token_bytes(32))
    key.chmod(0o400)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    return tmp_path


def sample(service: str) -> ServiceSettings:
    return load(settings_class(configured()[service]), file_of(service))


def file_of(service: str) -> Path:
    return ROOT / SAMPLES[service][0].replace(".", "/") / "config.yaml"


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_has_one_that_production_takes(credentials: Path, service: str) -> None:
    settings = sample(service)
    assert settings.environment == "production"
    assert settings.faults() == []


@pytest.mark.parametrize("service", SERVICES)
def test_nothing_secret_is_in_it(service: str) -> None:
    text = file_of(service).read_text()
    assert not re.search(r"^\s*(password|url: *redis|url: *mysql)", text, re.MULTILINE)


def test_who_only_makes_backups_has_no_password_of_who_restores(credentials: Path) -> None:
    """But whoever restores has a good one."""
    assert sample("backup").faults() == []
    (credentials / "restore.password").write_text("gatepost_migrate")
    assert [one.split(":")[0] for one in sample("backup").faults()] == ["restore"]


def test_they_agree_with_each_other(credentials: Path) -> None:
    assert list(disagreements({name: sample(name) for name in SERVICES})) == []


def test_every_name_of_the_environment_is_shown_with_a_value_that_can_be_used() -> None:
    text = (ROOT / ".env.example").read_text()
    shown = set(re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE))
    assert shown == set(ENVIRONMENT_NAMES)
    assert set(dotenv_values(ROOT / ".env.example")) <= shown


def test_domains_can_be_given_by_name_or_as_a_list(tmp_path: Path) -> None:
    sampled = read_domains(ROOT / "domains.yaml")
    assert {"example.com", "example.org"} <= sampled.keys()
    tree = yaml.safe_load((ROOT / "domains.yaml").read_text())["domains"]
    other = tmp_path / "domains.yaml"
    listed = [{"name": name, **(fields or {})} for name, fields in tree.items()]
    other.write_text(yaml.safe_dump({"domains": listed}))
    assert read_domains(other) == sampled
