"""Runs a real cluster of Spark's own kind on this machine: a master and workers as separate
processes.

For tests, drills and measurements: all on the loopback, on free ports, with folders of its own. Who
isn't told its secret is given no work by it, and what its processes say to each other is encrypted.
"""

import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from analytics.submit import NAMES
from infra.dev.child import Child
from infra.dev.engines.find import clean_environment
from infra.dev.jvm import find_java
from infra.dev.place import session
from infra.dev.ports import HOST, free_port
from infra.dev.private import private_folder, write_private
from infra.dev.steps import Failure

START_SECONDS = 90.0
STOP_SECONDS = 10.0
_EXECUTOR = b"CoarseGrainedExecutorBackend"
_REGISTERED = "Successfully registered with master"
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class SparkCluster:
    """A cluster; `home` is SPARK_HOME. Each worker has `cores` and so much memory for executors."""

    def __init__(
        self, home: Path, folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "1g"
    ) -> None:
        self._home, self._folder = home, private_folder(folder)
        self._port = free_port()
        self.conf = {
            "spark.authenticate": "true",
            "spark.authenticate.secret": secrets.token_urlsafe(24),
            "spark.network.crypto.enabled": "true",
            "spark.driver.host": HOST,
        }
        """The settings that a job has to give."""
        self._master = self._daemon("master", "Master", "--port", str(self._port))
        room = ["--cores", str(cores), "--memory", memory]
        self._workers = [
            self._daemon(f"worker-{n}", "Worker", *room, self.url) for n in range(workers)
        ]

    @property
    def url(self) -> str:
        return f"spark://{HOST}:{self._port}"

    def executors(self) -> list[int]:
        """Return the processes that do the work, in the order of the workers that started them."""
        every = [pid for worker in self._workers for pid in session(worker.pid)]
        return [pid for pid in every if _EXECUTOR in _command_of(pid)]

    def start(self) -> None:
        for child in (self._master, *self._workers):
            child.start()
        deadline = time.monotonic() + START_SECONDS
        while waiting := [one for one in self._workers if _REGISTERED not in one.log.read_text()]:
            for child in (self._master, *waiting):
                if child.exit_code() is not None or time.monotonic() > deadline:
                    raise Failure(f"Spark's {child.name} does not start:\n{child.last_words()}")
            time.sleep(0.05)

    def stop(self) -> None:
        for child in (*self._workers, self._master):
            child.stop(STOP_SECONDS)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _daemon(self, name: str, kind: str, *arguments: str) -> Child:
        place = private_folder(self._folder / name)
        main = f"org.apache.spark.deploy.{kind.lower()}.{kind}"
        listen = ["--host", HOST, "--webui-port", str(free_port())]
        settings = "".join(f"{name} {value}\n" for name, value in self.conf.items())
        write_private(place / "spark-defaults.conf", settings)
        return Child(
            name,
            [str(self._home / "bin" / "spark-class"), main, *listen, *arguments],
            log=place / "log",
            folder=place,
            environment=self._environment(place),
        )

    def _environment(self, place: Path) -> Mapping[str, str]:
        return {
            **clean_environment(),
            **NAMES,
            "JAVA_HOME": str(find_java()),
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(place),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(place),
            "SPARK_WORKER_DIR": str(place / "work"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{_SHORT_LIVED} -Djava.io.tmpdir={place}",
        }


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
