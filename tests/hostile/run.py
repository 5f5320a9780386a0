"""`./dev hostile`: everything hostile that we know of, at a running stack and at its readers.

Real processes, one hostile partner that no rate holds back, strangers at each port, and a good
partner whose posts are timed all the while. It is red if anything is answered as a fault of ours,
if a status isn't the one that was promised, if a process dies, or if the good partner is refused.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from infra.dev.options.checks import hostile
from infra.dev.stack import Stack
from infra.dev.steps import Failure, give_up, step
from tests.acceptance.site import Site
from tests.hostile.attack import call_everything, send_posts
from tests.hostile.page import write_into
from tests.hostile.partner import GoodPartner
from tests.hostile.parts import Part
from tests.hostile.peers import Attacked, attack, faults, memory_kib, processes
from tests.hostile.strangers import (
    flood_with_hellos,
    measure_stalls,
    read_everything,
    send_bodies,
    speak_oddly,
)

QUIET_SECONDS = 20.0


@dataclass
class Phase:
    """A part of the attack, how long it took, and what the good partner's posts took meanwhile."""

    part: Part
    seconds: float
    p99_ms: float
    refused: dict[int, int]


@dataclass
class Outcome:
    """What a whole run has seen."""

    seed: int
    quiet_p99_ms: float
    memory_before: dict[str, int]
    phases: list[Phase] = field(default_factory=list)
    memory_after: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    deaths: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        return sum(phase.part.inputs for phase in self.phases)

    @property
    def wrong(self) -> list[str]:
        """Return what must not be, one sentence each."""
        found = [f"{p.part.name}: {one}" for p in self.phases for one in p.part.answers.wrong]
        found += [f"{name} answered {n} requests with 500" for name, n in self.faults.items() if n]
        found += [f"a process of {name} has died" for name in self.deaths]
        found += [f"the good partner was refused: {p.refused}" for p in self.phases if p.refused]
        return found


def main(arguments: list[str]) -> int:
    options = hostile().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="gatepost-hostile-") as name:
        with step("a stack"):
            stack = Stack(Path(name) / "var")
            stack.start()
        try:
            outcome = run(Site(stack), options.seed, options.inputs)
        finally:
            stack.stop()
    tell(outcome)
    if options.write:
        write_into(outcome)
    return 1 if outcome.wrong else 0


def run(site: Site, seed: int, inputs: int) -> Outcome:
    """Attack in turn by each part, and see afterwards that everything is as it was."""
    site.wait_ready()
    attacked = attack(site)
    before = processes(site)
    with step(f"a good partner alone, {QUIET_SECONDS:.0f} s"):
        quiet = asyncio.run(_beside(attacked, _rest)).p99_ms
    outcome = Outcome(seed, quiet, memory_kib(site))
    for words, part in _parts(attacked, seed, inputs):
        with step(words):
            outcome.phases.append(asyncio.run(_beside(attacked, part)))
    outcome.memory_after, outcome.faults = memory_kib(site), faults(site)
    after = processes(site)
    outcome.deaths = [name for name, pids in before.items() if after[name] != pids]
    return outcome


def _parts(
    attacked: Attacked, seed: int, inputs: int
) -> list[tuple[str, Callable[[], Awaitable[Part]]]]:
    """Say what is sent in which order, and how much of it: shares of all inputs."""
    read, post, call, damage = (inputs * share // 100 for share in (45, 25, 15, 10))
    odd = inputs - read - post - call - damage
    return [
        ("hellos", lambda: flood_with_hellos(attacked)),
        (f"{odd:,} raw requests", lambda: speak_oddly(attacked, seed, odd)),
        (f"{damage:,} damaged bodies", lambda: send_bodies(attacked, seed, damage)),
        (f"{post:,} posts", lambda: send_posts(attacked, seed, post)),
        (f"{call:,} calls", lambda: call_everything(attacked, seed, call)),
        ("expensive bodies within a process", lambda: measure_stalls(seed)),
        (f"{read:,} inputs for readers", lambda: read_everything(seed, read)),
    ]


async def _rest() -> Part:
    await asyncio.sleep(QUIET_SECONDS)
    return Part("nothing")


async def _beside(attacked: Attacked, part: Callable[[], Awaitable[Part]]) -> Phase:
    """Play a part while the good partner goes on."""
    partner, stop = GoodPartner(attacked.peer("proxy", attacked.good)), asyncio.Event()
    posting = asyncio.create_task(partner.post_until(stop))
    started = time.monotonic()
    try:
        done = await part()
    finally:
        stop.set()
        await posting
    return Phase(done, time.monotonic() - started, partner.p99_ms(), partner.refused)


def tell(outcome: Outcome) -> None:
    print(f"\n{outcome.inputs:,} inputs, seed {outcome.seed}")
    print(f"a good partner's p99 alone: {outcome.quiet_p99_ms} ms")
    for phase in outcome.phases:
        told = ", ".join(
            f"{n} × {s or 'hung up'}" for s, n in sorted(phase.part.answers.statuses.items())
        )
        print(
            f"{phase.part.name}: {phase.seconds:.0f} s,"
            f" good partner's p99 {phase.p99_ms} ms; {told}"
        )
        for name, figure in phase.part.figures.items():
            print(f"    {name}: {figure}")
    for name, kib in outcome.memory_after.items():
        print(f"memory of {name}: {outcome.memory_before[name] // 1024} → {kib // 1024} MiB")
    for one in outcome.wrong[:50]:
        print(f"WRONG {one[:1000]}")
    print("RED" if outcome.wrong else "green: 0 × 5xx, nobody died, each status as promised")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        give_up(failure)
