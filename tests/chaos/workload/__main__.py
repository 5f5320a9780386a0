"""`python -m tests.chaos.workload`: one client process, until its time is over or SIGTERM."""

import argparse
import asyncio
import json
import random
import signal
from pathlib import Path
from typing import Any

import uvloop

from tests.chaos.digests import Digests
from tests.chaos.history import History
from tests.chaos.workload.client import Client, Mix
from tests.chaos.workload.poison import Poisoner
from tests.chaos.workload.posting import Connections, Gate
from tests.chaos.workload.shown import Shown
from tests.chaos.workload.texts import Texts

QUEUE = "example.com:messages"
"""The development domain's own."""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.workload")
    parser.add_argument("--site", type=Path, required=True, help="the site.json of a run")
    parser.add_argument("--client", required=True, help="whose certificate of the site's")
    parser.add_argument("--name", required=True, help="of this process, alone in the run")
    parser.add_argument("--history", type=Path, required=True, help="the folder of histories")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=float, default=50.0, help="posts a second")
    parser.add_argument("--poison", type=float, default=0.0, help="poison messages a second")
    parser.add_argument("--mix", type=json.loads, default={}, help='{"batch": 5, …}')
    return parser.parse_args()


async def run(arguments: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    site: dict[str, Any] = json.loads(arguments.site.read_text())
    dice = random.Random(f"{arguments.seed}-{arguments.name}")
    shown = Shown(site["ca"], **site["clients"][arguments.client])
    gates = [
        Connections(Gate(one["host"], one["port"], name), shown.context)
        for name, one in site["proxies"].items()
    ]
    arguments.history.mkdir(parents=True, exist_ok=True)
    with History(arguments.history / f"{arguments.name}.jsonl", arguments.name) as history:
        texts = Texts(arguments.name, dice, Digests(site["digest_key"]))
        client = Client(gates, history, texts, Mix(**arguments.mix), dice)
        works = [client.run(arguments.rate, arguments.seconds, stop)]
        if arguments.poison:
            poisoner = Poisoner(site["redis"], QUEUE, arguments.name, history)
            works.append(poisoner.run(arguments.poison, arguments.seconds, stop, dice))
        await asyncio.gather(*works)
    for gate in gates:
        await gate.aclose()


if __name__ == "__main__":
    uvloop.run(run(parse()))
