"""`./dev chaos recovery`: one fault at a time, and how long it takes until all is as it was.

Of each kind of process both are killed at once, so that nothing hides behind the other.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass

from infra.dev.options import chaos
from infra.dev.steps import Failure, give_up
from tests.chaos.experiment import judge, posting, prepare, trial
from tests.chaos.faults.fault import Fault
from tests.chaos.faults.network import Partition
from tests.chaos.faults.processes import Kill
from tests.chaos.faults.stores import FlushAll, PowerCut
from tests.chaos.faults.wires import RefuseWire
from tests.chaos.schedule import Planned, Schedule
from tests.chaos.sightings import Recovery, Sightings
from tests.chaos.site import Site

BEFORE_SECONDS, AFTER_SECONDS = 9.0, 16.0
MOST = {"worker": 2.0, "proxy": 3.0, "main": 3.0, "redis": 5.0, "mariadb": 10.0, "disk": 10.0}
PARTITION_MOST = 5.0


@dataclass(frozen=True)
class Case:
    """Faults that begin together, and the seconds that recovery may take."""

    faults: list[Fault]
    most: float


def cases(site: Site) -> list[Case]:
    found = []
    for kind in ("worker", "proxy", "main"):
        found.append(Case([Kill(f"{kind}-{n}", 0.0) for n in (1, 2)], MOST[kind]))
    found += [Case([Kill(store, 0.0)], MOST[store]) for store in ("redis", "mariadb")]
    found.append(Case([FlushAll("redis", 0.0)], MOST["redis"]))
    if site.disk is not None:
        found.append(Case([PowerCut("disk", 0.0)], MOST["disk"]))
    return found + [Case([fault], PARTITION_MOST) for fault in _partitions(site)]


def _partitions(site: Site) -> list[Fault]:
    seconds = 6.0
    if site.network.enclosed and site.tools.firewall is not None:
        nodes = ("redis", "mariadb", "main-1", "worker-1", "proxy-1")
        return [Partition(name, seconds) for name in nodes]
    return [RefuseWire(name, seconds) for name in site.wires if name.startswith("main-1")]


def main(arguments: list[str]) -> int:
    options = chaos.recovery().parse_args(arguments)
    prepare("tests.chaos.recovery", arguments)
    with trial("recovery", options.seed, rate=options.rate) as site:
        chosen = cases(site)
        each = BEFORE_SECONDS + AFTER_SECONDS + 6.0
        with posting(site, rate=options.rate, seconds=each * len(chosen), seed=options.seed):
            for case in chosen:
                time.sleep(BEFORE_SECONDS)
                Schedule(site, [Planned(0.0, fault) for fault in case.faults]).play()
                time.sleep(AFTER_SECONDS)
    folder = site.place.folder
    green = judge(folder)
    measured = measure(Sightings(folder), chosen)
    told = [asdict(one) | {"most": most} for one, most in measured]
    (folder / "recovery.json").write_text(json.dumps(told, indent=1))
    for one, most in measured:
        print(tell(one, most))
    return 0 if green and all(one.seconds <= most for one, most in measured) else 1


def measure(seen: Sightings, chosen: list[Case]) -> list[tuple[Recovery, float]]:
    """Of each case the fault that ended last stands for all of them."""
    found, faults = [], iter(seen.faults)
    for case in chosen:
        together = [next(faults) for _ in case.faults]
        last = max(together, key=lambda fault: fault.end)
        one = seen.recovery(last, last.end_wall + AFTER_SECONDS)
        found.append((one, case.most))
    return found


def tell(one: Recovery, most: float) -> str:
    verdict = "" if one.seconds <= most else f"   MORE than {most:.0f} s"
    return (
        f"{one.fault:10} {one.target:9} posting again after {one.accepting:4.1f} s,"
        f" delivering after {one.delivering:4.1f} s; posts failed for"
        f" {one.unavailable:4.1f} s{verdict}"
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
