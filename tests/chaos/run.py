"""`./dev chaos`: breaks everything under load, by a seed; the checker judges what is left."""

import argparse
import random
import sys
import time
from pathlib import Path

from infra.dev.paths import ROOT
from infra.dev.steps import Failure, give_up, step
from tests.chaos.experiment import judge, posting, prepare, trial
from tests.chaos.menu import last, menu, once
from tests.chaos.plan import draw
from tests.chaos.schedule import Schedule

AFTERMATH_SECONDS = 16.0
"""Clients go on after the last fault, until all is as usual and a while longer: recovery is part of
what is judged, and so is what others do while refused messages wait."""


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    prepare("tests.chaos.run", arguments, loopback=options.loopback)
    return 0 if run(options) else 1


def run(options: argparse.Namespace) -> bool:
    """One run from the start to its verdict: whether it is green."""
    seconds, seed, rate = 60 * options.minutes, options.seed, options.rate
    with trial("chaos", seed, options.tree, seconds=seconds, rate=rate) as site:
        plan = draw(menu(site), seed, seconds, once(), last())
        most = 2 * seconds + AFTERMATH_SECONDS
        load = posting(site, rate=rate, seconds=most, seed=seed, poison=options.poison)
        with step(f"{len(plan)} faults in {seconds:.0f} s"), load as clients:
            Schedule(site, plan).play()
            time.sleep(AFTERMATH_SECONDS)
            clients.stop()
        for fault in [one.fault for one in plan if one.fault.failed is not None]:
            print(f"    {fault.name} of {fault.target} could not be done: {fault.failed}")
    return judge(site.place.folder)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long faults go on (10)")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 100_000))
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second (200)")
    parser.add_argument("--poison", type=float, default=0.2, help="poison messages a second (0.2)")
    parser.add_argument("--tree", type=Path, default=ROOT, help="whose code to run (this one's)")
    parser.add_argument("--loopback", action="store_true", help="do without namespaces and disk")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
