"""The main file that spark-submit runs: `gatepost analytics run` and `gatepost analytics rebuild`
give it to it.

This file imports nothing from beside itself: spark-submit puts its folder on the path, where our
names would hide those of libraries. Nor does it import from the archive that is for the executors:
that has modules alone.
"""

import argparse
import sys
from datetime import date
from functools import partial
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
FOR_EXECUTORS = "gatepost-executors.zip"
sys.path[:] = [
    place
    for place in sys.path
    if Path(place).resolve() != FOLDER and Path(place).name != FOR_EXECUTORS
]

from analytics import job, nightly, rebuild  # noqa: E402
from analytics.session import open_session  # noqa: E402
from analytics.settings import AnalyticsSettings  # noqa: E402
from gatepost.cli.failure import Failure  # noqa: E402
from gatepost.config.settings import load  # noqa: E402
from gatepost.logs import start_logging  # noqa: E402


def main(arguments: list[str]) -> int:
    asked = _parse(arguments)
    try:
        with job.in_words():
            settings = load(AnalyticsSettings, asked.config)
            log = start_logging("analytics", settings.log.level)
            session = open_session(settings.lake.file_megabytes)
        work = (
            partial(rebuild.run, first=asked.first, last=asked.last)
            if asked.command == "rebuild"
            else partial(nightly.run, catch_up=asked.catch_up)
        )
        job.run(session, settings, log, asked.kind, work)
    except Failure as failure:
        sys.stderr.write(f"gatepost analytics: {failure.message}\n")
        return failure.exit_code
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gatepost analytics")
    parser.add_argument("--config", type=Path)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--catch-up", action="store_true")
    run.set_defaults(kind="nightly")
    again = commands.add_parser("rebuild")
    again.add_argument("first", type=date.fromisoformat)
    again.add_argument("last", type=date.fromisoformat)
    again.set_defaults(kind="rebuild")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
