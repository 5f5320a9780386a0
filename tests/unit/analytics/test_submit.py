"""How spark-submit is called: no secret in sight, and what is missing is told."""

import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZipFile

import pytest
from pydantic import ValidationError

from analytics import main, submit
from analytics.extract import jdbc_url
from analytics.settings import AnalyticsSettings, Source, Spark
from gatepost.errors import ConfigurationError


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    file = tmp_path / "driver.jar"
    file.touch()
    return file


def properties_in(folder: Path) -> list[str]:
    return (folder / "spark.properties").read_text().splitlines()


def test_the_driver_is_for_the_executors_and_for_the_driver(jar: Path, tmp_path: Path) -> None:
    said = submit.command(Spark(jdbc_jar=jar), tmp_path, tmp_path, ["run"], progress=True)
    assert Path(said[0]).name == "spark-submit"
    for option in ("--jars", "--driver-class-path"):
        assert said[said.index(option) + 1] == str(jar)
    for who in ("driver", "executor"):
        options = f"spark.{who}.extraJavaOptions=-Duser.timezone=UTC "
        assert any(line.startswith(options) for line in properties_in(tmp_path))
    assert "--py-files" not in said
    assert said[-2:] == [str(submit.MAIN), "run"]


def test_the_operators_own_settings_come_last_and_in_nobodys_sight(
    jar: Path, tmp_path: Path
) -> None:
    secret = "spark.authenticate.secret"
    conf = {"spark.ui.enabled": "true", secret: "a\\b\nc"}
    settings = Spark(jdbc_jar=jar, conf=conf, master="spark://m:7077")
    said = submit.command(settings, tmp_path, tmp_path, [], progress=True)
    found = properties_in(tmp_path)
    assert "spark.ui.enabled=true" in found
    assert "spark.ui.enabled=false" not in found
    assert f"{secret}=a\\\\b\\nc" in found
    assert secret not in " ".join(said)
    assert said[said.index("--master") + 1] == "spark://m:7077"
    assert said[said.index("--properties-file") + 1] == str(tmp_path / "spark.properties")


def test_executors_are_given_our_modules(jar: Path, tmp_path: Path) -> None:
    """And nothing beside them. The driver doesn't take its own from there."""
    said = submit.command(
        Spark(jdbc_jar=jar, master="spark://m:7077"), tmp_path, tmp_path, [], progress=False
    )
    archive = Path(said[said.index("--py-files") + 1])
    assert archive.name == main.FOR_EXECUTORS
    names = ZipFile(archive).namelist()
    assert {"analytics/__init__.py", "analytics/reports/times.py", "gatepost/ids.py"} <= set(names)
    assert all(name.endswith(".py") for name in names)


def test_whoever_ends_the_command_ends_spark(tmp_path: Path) -> None:
    """And what Spark's processes write is theirs alone."""
    said = tmp_path / "said"
    play = (
        "import sys; from analytics.submit import run;"
        f"sys.exit(run(['sh', '-c', 'trap \"exit 7\" TERM; umask > {said}; while :; do sleep .1;"
        " done'], {}))"
    )
    process = subprocess.Popen([sys.executable, "-c", play])
    deadline = time.monotonic() + 20
    while not (said.exists() and said.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.terminate()
    assert process.wait(20) == 7
    assert said.read_text() == "0077\n"


def test_a_password_does_not_cross_a_network_readable() -> None:
    assert Spark().faults() == []
    assert "crypto" in Spark(master="spark://m:7077").faults()[0]
    safe = {"spark.network.crypto.enabled": "true"}
    assert Spark(master="spark://m:7077", conf=safe).faults() == []


def test_without_the_driver_or_java_it_says_what_to_install(tmp_path: Path) -> None:
    nothing = Spark(jdbc_jar=tmp_path / "none.jar")
    with pytest.raises(ConfigurationError, match="libmariadb-java"):
        submit.command(nothing, tmp_path, tmp_path, [], progress=False)
    with pytest.raises(ConfigurationError, match="JRE of 17"):
        submit.environment(Spark(), {"PATH": str(tmp_path)})


def test_the_address_is_the_loopback_only_where_all_is_one_process() -> None:
    given = {"JAVA_HOME": "/java", "LC_ALL": "C"}
    assert submit.environment(Spark(), given)["LC_ALL"] == "C.UTF-8"
    assert submit.environment(Spark(), given)["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert "SPARK_LOCAL_IP" not in submit.environment(Spark(master="spark://m:7077"), given)
    own = submit.environment(Spark(java_home=Path("/own")), given | {"PYSPARK_PYTHON": "/theirs"})
    assert (own["JAVA_HOME"], own["PYSPARK_PYTHON"]) == ("/own", "/theirs")


def test_what_the_driver_of_jdbc_can_not_be_told_is_refused() -> None:
    """Passed over in silence, rows of the ledger would cross the network as they are."""
    place = "mysql+pymysql://gatepost_lake:x7Gh2-pQw9Lm4_Zr@replica.internal/gatepost"
    settings = AnalyticsSettings.model_validate(
        {"lake": {"uri": "s3a://lake"}, "source": {"url": f"{place}?ssl_ca=/etc/ca.pem"}}
    )
    said = jdbc_url(settings.read_from().address())
    assert {"useSsl=true", "sslMode=verify-full", "serverSslCert=/etc/ca.pem"} <= set(
        said.split("&")
    )
    with pytest.raises(ValidationError, match="ssl_ca alone, not ssl_cert"):
        Source.model_validate({"url": f"{place}?ssl_cert=/etc/own.pem"})


def test_in_production_a_reader_of_its_own_is_wanted() -> None:
    tree = {"lake": {"uri": "s3a://lake/gatepost"}, "database": {"password": "x7Gh2-pQw9Lm4_Zr"}}
    assert any(
        "can only read" in fault for fault in AnalyticsSettings.model_validate(tree).faults()
    )
    both = tree | {"source": {"password": "m3Kd8-vTn5Xc1_Bs"}}
    assert AnalyticsSettings.model_validate(both).faults() == []
