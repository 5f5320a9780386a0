"""locks/ hold what pyproject.toml asks for, with hashes, and not where it comes from."""

import json
import re
import tomllib
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.dev.paths import LOCKS, ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
BASE = PROJECT["project"]["dependencies"]
GROUPS: dict[str, list[Any]] = PROJECT["dependency-groups"]
SERVER = BASE + PROJECT["project"]["optional-dependencies"]["server"] + GROUPS["build"]
TRACING = PROJECT["project"]["optional-dependencies"]["tracing"]
ANALYTICS = SERVER + PROJECT["project"]["optional-dependencies"]["analytics"]
# A group that is in another stands in its place.
TEST = (
    ANALYTICS + TRACING + [one for one in GROUPS["test"] if isinstance(one, str)] + GROUPS["docs"]
)
ASKED = {
    "boot": GROUPS["boot"],
    "valkey": GROUPS["valkey"],
    "node": GROUPS["node"],
    "clients": GROUPS["clients"],
    "base": BASE,
    "server": SERVER,
    "tracing": SERVER + TRACING,
    "analytics": ANALYTICS,
    "test": TEST,
    "bench": TEST + GROUPS["bench"],
}
ENTRY = re.compile(r"^(?P<name>[a-z0-9.-]+)==(?P<version>\S+)(?: ; (?P<marker>.+?))? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")


def pinned(name: str) -> dict[str, str]:
    entries = map(ENTRY.match, (LOCKS / f"{name}.txt").read_text().splitlines())
    return {entry["name"]: entry["version"] for entry in entries if entry}


def test_there_is_a_lock_for_each_environment_and_no_other() -> None:
    assert {file.stem for file in LOCKS.glob("*.txt")} == set(ASKED)


def test_npms_lock_has_versions_and_hashes_and_no_addresses() -> None:
    text = (LOCKS / "npm" / "package-lock.json").read_text()
    assert "://" not in text
    asked = json.loads((LOCKS / "npm" / "package.json").read_text())["devDependencies"]
    root, *packages = json.loads(text)["packages"].values()
    assert root["devDependencies"] == asked
    assert all(one["integrity"].startswith("sha512-") for one in packages)


@pytest.mark.parametrize("name", ASKED)
def test_lock_fulfils_what_the_project_asks_for(name: str) -> None:
    versions = pinned(name)
    for requirement in map(Requirement, ASKED[name]):
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is in no lock: run ./dev lock"
        assert requirement.specifier.contains(version), f"{requirement}: run ./dev lock"


@pytest.mark.parametrize("name", ASKED)
def test_lock_has_packages_versions_and_hashes_only(name: str) -> None:
    for line in (LOCKS / f"{name}.txt").read_text().splitlines():
        entry = ENTRY.match(line)
        assert entry or HASH.match(line), line
        if entry and entry["marker"]:
            Marker(entry["marker"])


@pytest.mark.parametrize("name", ASKED)
def test_lock_has_the_hashes_of_all_files_of_a_version(name: str) -> None:
    """A single one is the mark of an index that holds the files of one platform; or of a package
    that comes as sources alone."""
    entries = re.split(r"^(?=\S)", (LOCKS / f"{name}.txt").read_text(), flags=re.MULTILINE)[1:]
    single = {entry.split("==")[0] for entry in entries if entry.count("--hash=") < 2}
    assert single <= {"pyspark", "xstatic-bootstrap"}


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("base", "server"),
        ("server", "tracing"),
        ("server", "analytics"),
        ("tracing", "test"),
        ("analytics", "test"),
        ("test", "bench"),
    ],
)
def test_larger_environment_keeps_the_versions_of_the_smaller(smaller: str, larger: str) -> None:
    assert pinned(smaller).items() <= pinned(larger).items()
