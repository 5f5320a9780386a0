"""`./dev chaos`: breaks everything under load, by a seed; the checker judges what is left."""

import argparse
import random
import signal
import sys
import time

from infra.dev.paths import VAR
from infra.dev.steps import Failure, give_up
from tests.chaos.enclosure import enclose, enclosed, why_not
from tests.chaos.faults.processes import Kill
from tests.chaos.network import Tools
from tests.chaos.schedule import Planned, Schedule
from tests.chaos.site import Site


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    Tools().fetch()
    enclose("tests.chaos.run", arguments)
    if not enclosed():
        print(f"On loopback ({why_not()}).")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = VAR / "chaos" / f"{time.strftime('%m%d-%H%M%S')}-{options.seed}"
    with Site(folder, enclosed=enclosed()) as site:
        print("ready", site.place.folder, flush=True)
        schedule = Schedule(site, [Planned(1.0, Kill("redis", 2.0))])
        schedule.play()
        site.wait_all_ready()
        print("all ready again", flush=True)
    return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 100_000))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
