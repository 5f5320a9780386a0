"""Give the main file to spark-submit: with our Java, our Python and the ledger's driver.

Secrets are in the configuration, which the main file reads itself, and in a file of Spark's
settings that only we can read: arguments can be seen. A run makes everything that it needs for
itself on the way in one folder, which nobody else can look into, and which goes with the run.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from pwd import struct_passwd
from types import FrameType
from typing import Any

from analytics import bundle
from analytics.settings import Spark
from gatepost.config.sources import CREDENTIALS
from gatepost.errors import ConfigurationError

MAIN = Path(__file__).with_name("main.py")
UTC_OPTION = "-Duser.timezone=UTC"
NAMES = {"LC_ALL": "C.UTF-8"}
"""The locale: Java finds no file whose name has an umlaut in it, where the locale has none."""
OURS_ALONE = 0o077
"""The umask of Spark's processes: who has sent how much is nobody else's business."""
_UNSEEN = "-XX:-UsePerfData"
"""The option without which each JVM tells of itself in a folder that is always the machine's
own."""
_DRIVER, _EXECUTOR = "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"


def command(
    settings: Spark, folder: Path, scratch: Path, arguments: Sequence[str], *, progress: bool
) -> list[str]:
    """Return the command. `folder` is ours alone, for as long as Spark runs: what Spark is to be
    given goes there. So is `scratch`, for what Spark makes."""
    jar = settings.jdbc_jar
    if not jar.is_file():
        raise ConfigurationError(
            f"{jar} is not there: install libmariadb-java, or name MariaDB's driver in"
            " spark.jdbc_jar"
        )
    conf = {
        _DRIVER: UTC_OPTION,
        _EXECUTOR: UTC_OPTION,
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": f"file://{scratch}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(progress).lower(),
        "spark.log.level": "ERROR",
        # With Spark's own 200 each part that is read makes a file for each, and a day is small.
        "spark.sql.shuffle.partitions": "16",
        # Hadoop sets permissions by itself, whatever the processes' umask.
        "spark.hadoop.fs.permissions.umask-mode": f"{OURS_ALONE:03o}",
        **settings.conf,
    }
    places = [f'"-D{name}={scratch}"' for name in ("java.io.tmpdir", "derby.system.home")]
    conf[_DRIVER] = " ".join([conf[_DRIVER], _UNSEEN, *places])
    conf[_EXECUTOR] = f"{conf[_EXECUTOR]} {_UNSEEN}"
    properties = folder / "spark.properties"
    properties.touch(mode=0o600)
    properties.write_text("".join(f"{name}={_escaped(conf[name])}\n" for name in conf))
    packages = [] if settings.is_local else ["--py-files", str(bundle.make(folder))]
    return [
        str(spark_home() / "bin" / "spark-submit"),
        *("--master", settings.master),
        *("--properties-file", str(properties), "--load-spark-defaults"),
        *("--driver-memory", settings.driver_memory),
        *("--jars", str(jar)),
        *("--driver-class-path", str(jar)),
        *packages,
        str(MAIN),
        *arguments,
    ]


def environment_in(scratch: Path) -> dict[str, str]:
    """Return what tells Python, and the JVM that works out how to start the driver's, of the
    scratch folder."""
    launcher = f"{_UNSEEN} -Djava.io.tmpdir={scratch}"
    return {"TMPDIR": str(scratch), "SPARK_LAUNCHER_OPTS": launcher}


def hand_over(folder: Path, credentials: Path | None, user: struct_passwd) -> dict[str, str]:
    """Hand what is in the folder, and copies of root's credentials, to the user as whom Spark is to
    run."""
    copies = folder / "credentials"
    copies.mkdir()
    for file in credentials.iterdir() if credentials else ():
        shutil.copyfile(file, copies / file.name)
    for file in (one for one in folder.rglob("*") if one.is_file()):
        file.chmod(0o400)
        os.chown(file, user.pw_uid, user.pw_gid)
    for place in (copies, folder):
        place.chmod(0o755)
    return {CREDENTIALS: str(copies), "HOME": user.pw_dir}


def run(
    command: Sequence[str], environment: Mapping[str, str], user: struct_passwd | None = None
) -> int:
    """Run the command until it has ended; pass on when we are to end, and return its exit code."""
    identity: dict[str, Any] = {}
    if user is not None:
        groups = os.getgrouplist(user.pw_name, user.pw_gid)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups}
    process = subprocess.Popen(command, env=environment, umask=OURS_ALONE, **identity)

    def pass_on(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    code = process.wait()
    return code if code >= 0 else 128 - code


def environment(settings: Spark, given: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's environment. The driver's Python is this one; on a cluster the operator may
    name the executors'."""
    ours = {"PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_HOME": str(spark_home()), **NAMES}
    if settings.java_home is not None:
        ours["JAVA_HOME"] = str(settings.java_home)
    elif "JAVA_HOME" not in given and shutil.which("java", path=given.get("PATH")) is None:
        raise ConfigurationError(
            "There is no Java here: install a JRE of 17 or later, or name one in spark.java_home"
        )
    alone = {"SPARK_LOCAL_IP": "127.0.0.1"} if settings.is_local else {}
    return {"PYSPARK_PYTHON": sys.executable, **alone, **given, **ours}


def spark_home() -> Path:
    if "SPARK_HOME" in os.environ:
        return Path(os.environ["SPARK_HOME"])
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ConfigurationError("PySpark is not installed: pip install 'gatepost[analytics]'")
    return Path(spec.origin).parent


def _escaped(value: str) -> str:
    """Escape a value as a file of Java's properties has it."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")
