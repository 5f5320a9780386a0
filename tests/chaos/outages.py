"""`./dev chaos outages`: main servers, MariaDB, Redis down for five minutes each, one by one.

Posting goes on meanwhile: of what is sent after the first second at least 99.9 % is accepted.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass

from infra.dev.options import chaos
from infra.dev.steps import Failure, give_up, step
from tests.chaos.experiment import judge, posting, prepare, trial
from tests.chaos.faults.processes import Kill
from tests.chaos.schedule import Planned, Schedule
from tests.chaos.sightings import Sightings
from tests.chaos.timing import accepted_share

CALM_SECONDS = 15.0
SWITCHING_SECONDS = 1.0
LEAST = 0.999
OUTAGES = {"main servers": ("main-1", "main-2"), "mariadb": ("mariadb",), "redis": ("redis",)}


def main(arguments: list[str]) -> int:
    options = chaos.outages().parse_args(arguments)
    prepare("tests.chaos.outages", arguments)
    with trial("outages", options.seed, seconds=options.seconds, rate=options.rate) as site:
        length = len(OUTAGES) * (options.seconds + 2 * CALM_SECONDS)
        with posting(site, rate=options.rate, seconds=length, seed=options.seed):
            for name, targets in OUTAGES.items():
                time.sleep(CALM_SECONDS)
                with step(f"{name} down for {options.seconds:.0f} s"):
                    faults = [Kill(target, options.seconds) for target in targets]
                    Schedule(site, [Planned(0.0, fault) for fault in faults]).play()
                site.wait_all_ready()
    folder = site.place.folder
    green = judge(folder)
    outages = measure(Sightings(folder))
    told = {name: asdict(one) for name, one in outages.items()}
    (folder / "outages.json").write_text(json.dumps(told, indent=1))
    for name, one in outages.items():
        verdict = "" if one.accepted >= LEAST else f"   LESS than {LEAST:.1%}"
        print(f"{name:12} accepted meanwhile: {one.accepted:.3%}{verdict}")
    return 0 if green and all(one.accepted >= LEAST for one in outages.values()) else 1


@dataclass(frozen=True, slots=True)
class Outage:
    """What was accepted of what was sent in it, but for its first second; how many messages Redis
    alone had at its end, and how long after it the ledger had the last of them.
    """

    accepted: float
    exposed: int
    registered_after: float


def measure(seen: Sightings) -> dict[str, Outage]:
    found = {}
    for name, targets in OUTAGES.items():
        faults = [fault for fault in seen.faults if fault.target in targets]
        begin, end = max(one.begin_wall for one in faults), min(one.end_wall for one in faults)
        came = [came for sent, came in seen.exposed if begin <= sent < end <= came]
        found[name] = Outage(
            accepted=accepted_share(seen.posts, begin + SWITCHING_SECONDS, end),
            exposed=len(came),
            registered_after=max(came, default=end) - end,
        )
    return found


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
