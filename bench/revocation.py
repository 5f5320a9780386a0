"""`./dev bench revocation`: how long a certificate is taken after the revoking call has answered.

I8 promises less than a second: on new, live and resumed connections, in every process, while Redis
is down, and when the main server goes down just after. With `--write`, the figures go into
docs/performance-revocation.md: no figure gets there in another way.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.revoking import page
from bench.revoking.bed import Bed, Victim
from bench.revoking.callers import QUIET_GAP_SECONDS, Live
from bench.revoking.trial import Outcome, try_once
from bench.rig import pages
from bench.rig.machine import noise
from infra.dev.options import bench as options
from infra.dev.stack import Stack

BYSTANDERS = 4
"""Other certificates, each with as many connections as a victim has."""
PROCESSES = 2
LEARN_SECONDS = 3.0
LIMIT_MS = 1000.0


async def measure(bed: Bed, arguments: argparse.Namespace) -> dict[str, Any]:
    share = arguments.connections // (BYSTANDERS + 1)
    trials = -(-arguments.trials // len(page.SCENES))
    bed.revoke_many(arguments.revoked)
    victims = [bed.victim(n) for n in range(trials * len(page.SCENES) + BYSTANDERS)]
    await asyncio.sleep(LEARN_SECONDS)  # until every process knows them
    others = [Live(bed.port, victims.pop().context, QUIET_GAP_SECONDS) for _ in range(BYSTANDERS)]
    for one in others:
        await one.open(share)
    scenes: dict[str, list[dict[str, Any]]] = {}
    for scene in page.SCENES:
        print(f"measuring: {page.SCENES[scene]} …", flush=True)
        found = await run(scene, bed, [victims.pop() for _ in range(trials)], share)
        scenes[scene] = [asdict(one) for one in found]
    for one in others:
        await one.close()
    return {
        "trials": trials * len(scenes),
        "connections": share * (BYSTANDERS + 1),
        "victims_connections": share,
        "processes": PROCESSES,
        "revoked": arguments.revoked + trials * len(scenes),
        "scenes": scenes,
        "others_cut": sum(len(one.seen.ended) for one in others),
        "others_refused": sum(one.seen.refused for one in others),
        "others_unsure": sum(one.seen.unsure for one in others),
    }


async def run(scene: str, bed: Bed, victims: list[Victim], connections: int) -> list[Outcome]:
    def nothing() -> None:
        pass

    def kill_main() -> None:
        bed.kill("main_server")

    found = []
    with bed.alone() if scene == "redis_down" else nullcontext():
        if scene == "redis_down":
            bed.kill("redis")
        for victim in victims:
            afterwards: Callable[[], None] = kill_main if scene == "main_down" else nothing
            with bed.alone() if scene == "main_down" else nullcontext():
                found.append(await try_once(bed, victim, connections, afterwards))
    return found


def main() -> None:
    arguments = options.revocation().parse_args()
    before = noise()
    with tempfile.TemporaryDirectory(prefix="gatepost-bench-") as name:
        folder = Path(name)
        with Stack(folder / "var") as stack:
            bed = Bed(stack, folder)
            results = asyncio.run(measure(bed, arguments)) | {"noise": before}
            bed.close()
    text = page.render(results)
    print(text)
    pages.keep("revocation", results, text, write=arguments.write)
    every = [one for scene in results["scenes"].values() for one in scene]
    if max(one[kind] for one in every for kind in page.ACCEPTED) >= LIMIT_MS:
        sys.exit("A revoked certificate was taken for a second or more.")


if __name__ == "__main__":
    main()
