"""`./dev chaos`: breaks everything under load, by a seed; the checker judges what is left."""

import argparse
import random
import signal
import sys
from collections import Counter
from pathlib import Path

from infra.dev.paths import ROOT
from infra.dev.private import private_folder
from infra.dev.steps import Failure, give_up, step
from tests.chaos import experiment
from tests.chaos.enclosure import enclose, enclosed, why_not
from tests.chaos.menu import menu
from tests.chaos.network import Tools
from tests.chaos.plan import draw
from tests.chaos.report.facts import write_facts
from tests.chaos.schedule import Schedule
from tests.chaos.site import Site
from worker.delivering import LEASE_SECONDS

AFTERMATH_SECONDS = 8.0
"""Clients go on a little after the last fault, so that recovery is part of what is judged."""


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    prepare("tests.chaos.run", arguments)
    folder = experiment.new_folder(f"seed-{options.seed}")
    return 0 if run(folder, options) else 1


def prepare(module: str, arguments: list[str]) -> None:
    """Goes on in an enclosure, where one can be had; ends in order when it is told to."""
    Tools().fetch()
    enclose(module, arguments)
    if not enclosed():
        print(f"On loopback: {why_not()}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def where() -> str:
    """For the report: what a reader should know of the site."""
    if enclosed():
        return "network namespaces, one disk for both stores"
    return f"loopback ({why_not()})"


def run(folder: Path, options: argparse.Namespace) -> bool:
    """One run from the start to its verdict: whether it is green."""
    seconds = 60 * options.minutes
    print(f"Chaos, seed {options.seed}, {seconds:.0f} s, in {folder}", flush=True)
    with step("two of each service, and the stores"):
        site = Site(private_folder(folder), enclosed=enclosed(), tree=options.tree)
        site.__enter__()
    try:
        plan = draw(menu(site), options.seed, seconds)
        names = Counter(planned.fault.name for planned in plan)
        write_facts(
            folder,
            seed=options.seed,
            where=where(),
            lease_seconds=LEASE_SECONDS,
            seconds=seconds,
            rate=options.rate,
            faults=names,
        )
        length = seconds + AFTERMATH_SECONDS
        with (
            step(f"{len(plan)} faults"),
            experiment.posting(
                site, rate=options.rate, seconds=length, seed=options.seed, poison=options.poison
            ),
        ):
            Schedule(site, plan).play()
        failed = [p.fault for p in plan if p.fault.failed is not None]
        for fault in failed:
            print(f"    {fault.name} of {fault.target} could not be done: {fault.failed}")
        with step("until nothing waits"):
            experiment.wait_at_rest(site)
        experiment.collect(site)
    finally:
        site.__exit__(None, None, None)
    if site.disk is not None:
        site.disk.image.unlink()
    return experiment.judge(folder)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long faults go on (10)")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 100_000))
    parser.add_argument("--rate", type=float, default=160.0, help="requests a second (160)")
    parser.add_argument("--poison", type=float, default=0.2, help="poison messages a second (0.2)")
    parser.add_argument("--tree", type=Path, default=ROOT, help="whose code to run (this one's)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
