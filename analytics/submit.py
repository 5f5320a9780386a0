"""How the main file is given to spark-submit: with our Java, our Python and the ledger's driver.

What is secret is in the configuration, which the main file reads itself: arguments can be seen.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from analytics.settings import Spark
from gatepost.errors import ConfigurationError

MAIN = Path(__file__).with_name("main.py")
UTC_OPTION = "-Duser.timezone=UTC"


def command(settings: Spark, arguments: Sequence[str], *, progress: bool) -> list[str]:
    jar = settings.jdbc_jar
    if not jar.is_file():
        raise ConfigurationError(
            f"{jar} is not there: install libmariadb-java, or name MariaDB's driver in"
            " spark.jdbc_jar"
        )
    conf = {
        "spark.driver.extraJavaOptions": UTC_OPTION,
        "spark.executor.extraJavaOptions": UTC_OPTION,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(progress).lower(),
        "spark.log.level": "ERROR",
        **settings.conf,
    }
    return [
        str(spark_home() / "bin" / "spark-submit"),
        *("--master", settings.master),
        *("--driver-memory", settings.driver_memory),
        *("--jars", str(jar)),
        *("--driver-class-path", str(jar)),
        *(part for name, value in conf.items() for part in ("--conf", f"{name}={value}")),
        str(MAIN),
        *arguments,
    ]


def environment(settings: Spark, given: Mapping[str, str]) -> dict[str, str]:
    """The driver's Python is this one; on a cluster the operator may name the executors'."""
    ours = {"PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_HOME": str(spark_home())}
    if settings.java_home is not None:
        ours["JAVA_HOME"] = str(settings.java_home)
    elif "JAVA_HOME" not in given and shutil.which("java", path=given.get("PATH")) is None:
        raise ConfigurationError(
            "There is no Java here: install a JRE of 17 or later, or name one in spark.java_home"
        )
    alone = {"SPARK_LOCAL_IP": "127.0.0.1"} if settings.master.startswith("local") else {}
    return {"PYSPARK_PYTHON": sys.executable, **alone, **given, **ours}


def spark_home() -> Path:
    if "SPARK_HOME" in os.environ:
        return Path(os.environ["SPARK_HOME"])
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ConfigurationError("PySpark is not installed: pip install 'gatepost[analytics]'")
    return Path(spec.origin).parent
