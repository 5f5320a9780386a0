"""`./dev drill analytics`: what takes too long for a test, or wants a machine for itself.

The disk is full, the database is killed half-way, two start at once; each time nothing is published
by halves, and the next run makes it good. Then `./dev bench analytics --large`.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from analytics import submit
from analytics.settings import Spark
from bench.analytics import bench
from bench.nights.ledger import BigLedger, big_ledger
from bench.nights.runs import GATEPOST, configure, run
from infra.dev.jvm import find_java
from infra.dev.options import drill

ROWS = 400_000
DAYS = 3
PATIENCE = 300.0
SMALL_DISK = "4m"


class Wrong(Exception):
    """What should not be so."""


def full_disk(ledger: BigLedger, config: Path) -> str:
    """A disk of a few megabytes, mounted where the lake is, for that run alone."""
    lake = config.parent / "lake"
    lake.mkdir(exist_ok=True)
    mounted = f'mount -t tmpfs -o size={SMALL_DISK} tmpfs "$1" && shift && exec "$@"'
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted, "sh", str(lake)]
    said = _call([*alone, *_command(config)])
    _demand(said.returncode == 1, f"exit code {said.returncode}: {said.stderr}")
    _demand("No space left on device" in said.stderr, said.stderr)
    _demand(_published(ledger) == 0, "something was published")
    _finish(ledger, config)
    return _our_line(said.stderr)


def killed_database(ledger: BigLedger, config: Path) -> str:
    """SIGKILL while rows are read; it comes back, and so does the pipeline."""
    process = subprocess.Popen(
        _command(config), env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _wait(lambda: _published(ledger) >= 1)
    ledger.server.kill()
    _, complaints = process.communicate(timeout=PATIENCE)
    ledger.server.start()
    ledger.engine.dispose()
    _demand(process.returncode == 5, f"exit code {process.returncode}: {complaints.decode()}")
    before = _published(ledger)
    _demand(0 < before < DAYS, f"{before} days are published")
    _finish(ledger, config)
    return _our_line(complaints.decode())


def killed_job(ledger: BigLedger, config: Path) -> str:
    """SIGKILL to all of its processes while it writes."""
    process = subprocess.Popen(
        _command(config),
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _wait(lambda: _published(ledger) >= 1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _finish(ledger, config)
    return "killed, and run again"


def two_at_once(ledger: BigLedger, config: Path) -> str:
    """One does it, the other is refused, whichever is first."""
    codes: list[int] = []
    said: list[str] = []

    def one() -> None:
        found = _call(_command(config))
        codes.append(found.returncode)
        said.append(found.stderr)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _demand(sorted(codes) == [0, 5], f"exit codes {codes}: {said}")
    _finish(ledger, config)
    return _our_line("".join(said))


DRILLS = (full_disk, killed_database, killed_job, two_at_once)


def play(rows: int) -> list[str]:
    """What went wrong."""
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    days = {yesterday - timedelta(days=n): rows for n in range(DAYS)}
    wrong = []
    with tempfile.TemporaryDirectory(prefix="gatepost-drill-") as name:
        Path(name).chmod(0o711)  # MariaDB may run as somebody else
        with big_ledger(Path(name) / "mariadb", days, _say) as ledger:
            config = configure(Path(name), ledger)
            for drill in DRILLS:
                _forget(ledger)
                try:
                    _say(f"{drill.__name__}: {drill(ledger, config)}")
                except (Wrong, subprocess.TimeoutExpired) as error:
                    _say(f"{drill.__name__}: WRONG: {error}")
                    wrong.append(drill.__name__)
    return wrong


def _our_line(said: str) -> str:
    """Before it and after it may be what the JVM had to say."""
    (ours,) = [line for line in said.splitlines() if line.startswith("gatepost analytics: ")]
    return ours


def _finish(ledger: BigLedger, config: Path) -> None:
    """A run that is left alone, after which all is there."""
    run(config)
    query = text("SELECT day, row_count FROM lake_manifest")
    with ledger.engine.connect() as connection:
        found = {row.day: row.row_count for row in connection.execute(query)}
    _demand(found == ledger.rows, f"published is {found}")


def _forget(ledger: BigLedger) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(text("DELETE FROM lake_manifest"))


def _published(ledger: BigLedger) -> int:
    with ledger.engine.connect() as connection:
        query = text("SELECT COUNT(*) FROM lake_manifest")
        return int(connection.execute(query).scalar_one())


def _command(config: Path) -> list[str]:
    return [str(GATEPOST), "analytics", "run", "--config", str(config)]


def _environment() -> dict[str, str]:
    return submit.environment(Spark(java_home=find_java()), os.environ)


def _call(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, check=False, capture_output=True, text=True, env=_environment(), timeout=PATIENCE
    )


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise Wrong("it did not happen")
        time.sleep(0.05)


def _demand(fine: bool, words: str) -> None:
    if not fine:
        raise Wrong(words)


def _say(words: str) -> None:
    print(f"  {words}", flush=True)


def main() -> None:
    arguments = drill.analytics().parse_args()
    wrong = play(int(ROWS * arguments.scale))
    if not arguments.faults and (slow := bench("drill", arguments.scale, write=arguments.write)):
        wrong.append(slow)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
