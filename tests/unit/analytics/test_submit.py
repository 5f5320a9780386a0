"""How spark-submit is called: no secret in sight, and what is missing is told."""

from pathlib import Path

import pytest

from analytics import submit
from analytics.settings import AnalyticsSettings, Spark
from gatepost.errors import ConfigurationError


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    file = tmp_path / "driver.jar"
    file.touch()
    return file


def test_the_driver_is_for_the_executors_and_for_the_driver(jar: Path) -> None:
    said = submit.command(Spark(jdbc_jar=jar), ["run"], progress=True)
    assert Path(said[0]).name == "spark-submit"
    for option in ("--jars", "--driver-class-path"):
        assert said[said.index(option) + 1] == str(jar)
    for who in ("driver", "executor"):
        assert f"spark.{who}.extraJavaOptions=-Duser.timezone=UTC" in said
    assert said[-2:] == [str(submit.MAIN), "run"]


def test_the_operators_own_settings_of_spark_come_last(jar: Path) -> None:
    conf = {"spark.ui.enabled": "true", "spark.executor.memory": "4g"}
    said = submit.command(
        Spark(jdbc_jar=jar, conf=conf, master="spark://m:7077"), [], progress=True
    )
    assert "spark.ui.enabled=true" in said
    assert "spark.ui.enabled=false" not in said
    assert said[said.index("--master") + 1] == "spark://m:7077"


def test_without_the_driver_or_java_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="libmariadb-java"):
        submit.command(Spark(jdbc_jar=tmp_path / "none.jar"), [], progress=False)
    with pytest.raises(ConfigurationError, match="JRE of 17"):
        submit.environment(Spark(), {"PATH": str(tmp_path)})


def test_the_address_is_the_loopback_only_where_all_is_one_process() -> None:
    given = {"JAVA_HOME": "/java"}
    assert submit.environment(Spark(), given)["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert "SPARK_LOCAL_IP" not in submit.environment(Spark(master="spark://m:7077"), given)
    own = submit.environment(Spark(java_home=Path("/own")), given | {"PYSPARK_PYTHON": "/theirs"})
    assert (own["JAVA_HOME"], own["PYSPARK_PYTHON"]) == ("/own", "/theirs")


def test_in_production_a_reader_of_its_own_is_wanted() -> None:
    tree = {"lake": {"uri": "s3a://lake/gatepost"}, "database": {"password": "x7Gh2-pQw9Lm4_Zr"}}
    assert any(
        "can only read" in fault for fault in AnalyticsSettings.model_validate(tree).faults()
    )
    both = tree | {"source": {"password": "m3Kd8-vTn5Xc1_Bs"}}
    assert AnalyticsSettings.model_validate(both).faults() == []
