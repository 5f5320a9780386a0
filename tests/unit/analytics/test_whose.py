"""Root's `gatepost analytics …` on a machine where the lake is a service's."""

import os
import pwd
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from analytics import commands

NOBODY = pwd.getpwnam("nobody")
SPARK_SUBMIT = """#!/bin/sh
id -u
cat "$CREDENTIALS_DIRECTORY/database.password"
while [ "$1" != --properties-file ]; do shift; done
grep -c UTC "$2"
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that anybody can reach: pytest's own are for whoever runs it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="gatepost-test-") as name:
        place = Path(name)
        place.chmod(0o711)
        yield place


def test_root_has_spark_run_as_whose_the_lake_is(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Anybody else runs it as himself."""
    lake, script = place / "lake", place / "bin" / "spark-submit"
    lake.mkdir()
    script.parent.mkdir()
    script.write_text(SPARK_SUBMIT)
    script.chmod(0o755)
    script.parent.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(place))
    (jar := place / "driver.jar").touch()
    secrets = place / "etc" / "credentials"
    secrets.mkdir(parents=True, mode=0o700)
    (secrets / "database.password").write_text("p4ssw0rd\n")
    config = place / "etc" / "config.yaml"
    tree = {
        "environment": "development",
        "lake": {"uri": f"file://{lake}/not/there/yet"},
        "spark": {"jdbc_jar": str(jar), "java_home": str(place)},
    }
    config.write_text(yaml.safe_dump(tree))
    expected = os.geteuid()
    if expected == 0:
        os.chown(lake, NOBODY.pw_uid, NOBODY.pw_gid)
        expected = NOBODY.pw_uid
    else:
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(secrets))
    with pytest.raises(SystemExit) as ended:
        commands.submit(config, ["rebuild", "2026-11-01", "2026-11-02"])
    assert ended.value.code == 0
    assert capfd.readouterr().out.split() == [str(expected), "p4ssw0rd", "2"]
