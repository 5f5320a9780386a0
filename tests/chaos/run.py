"""`./dev chaos`: breaks everything under load, by a seed; the checker judges what is left."""

import argparse
import sys
import time

from infra.dev.options import chaos
from infra.dev.steps import Failure, give_up, step
from tests.chaos.experiment import judge, posting, prepare, trial
from tests.chaos.menu import last, menu, once
from tests.chaos.plan import draw
from tests.chaos.schedule import Schedule

AFTERMATH_SECONDS = 16.0
"""Clients go on after the last fault, until all is as usual and a while longer: recovery is part of
what is judged, and so is what others do while refused messages wait."""


def main(arguments: list[str]) -> int:
    options = chaos.run().parse_args(arguments)
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


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
