"""`./dev chaos powercuts`: the power fails for both stores, again and again, under load."""

import random
import sys
import time

from infra.dev.options import chaos
from infra.dev.steps import Failure, give_up, step
from tests.chaos.experiment import judge, posting, prepare, trial
from tests.chaos.faults.stores import PowerCut
from tests.chaos.schedule import Planned, Schedule

UP_SECONDS = (0.5, 4.0)
"""Between two cuts, from when both stores answer again."""

MOST_SECONDS_EACH = 30.0


def main(arguments: list[str]) -> int:
    options = chaos.powercuts().parse_args(arguments)
    prepare("tests.chaos.powercuts", arguments)
    dice = random.Random(options.seed)
    with trial("powercuts", options.seed, times=options.times, rate=options.rate) as site:
        if site.disk is None:
            raise Failure("Power cuts need a disk of their own: run this as root.")
        length = options.times * MOST_SECONDS_EACH
        load = posting(site, rate=options.rate, seconds=length, seed=options.seed)
        with step(f"{options.times} power cuts"), load as clients:
            for _ in range(options.times):
                time.sleep(dice.uniform(*UP_SECONDS))
                Schedule(site, [Planned(0.0, PowerCut("disk", dice.uniform(0, 0.5)))]).play()
                for store in site.stores:
                    site.wait_ready(store)
            clients.stop()
    return 0 if judge(site.place.folder) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
