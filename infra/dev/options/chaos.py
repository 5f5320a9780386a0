"""The options of `./dev chaos`: the programs of tests/chaos, by their modules' names."""

import argparse
import random
from pathlib import Path

from infra.dev.options.programs import Programs, one_of
from infra.dev.paths import ROOT

TEETH = ROOT / "tests" / "chaos" / "teeth"


def run() -> argparse.ArgumentParser:
    words = "Break everything under load, by a seed; a checker judges what is left."
    parser = argparse.ArgumentParser(prog="./dev chaos", description=words)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long faults go on (10)")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1, 100_000), help="else a random one"
    )
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second (200)")
    parser.add_argument("--poison", type=float, default=0.2, help="poison messages a second (0.2)")
    parser.add_argument("--tree", type=Path, default=ROOT, help="whose code to run (this one's)")
    parser.add_argument("--loopback", action="store_true", help="do without namespaces and disk")
    return parser


def recovery() -> argparse.ArgumentParser:
    words = "One fault at a time, and how long it takes until all is as it was."
    parser = argparse.ArgumentParser(prog="./dev chaos recovery", description=words)
    parser.add_argument("--rate", type=float, default=120.0, help="requests a second (120)")
    parser.add_argument("--seed", type=int, default=1, help="of what is sent (1)")
    return parser


def outages() -> argparse.ArgumentParser:
    words = "Take main servers, MariaDB and Redis away for five minutes each, one by one."
    parser = argparse.ArgumentParser(prog="./dev chaos outages", description=words)
    parser.add_argument("--seconds", type=float, default=300.0, help="of each outage (300)")
    parser.add_argument("--rate", type=float, default=80.0, help="requests a second (80)")
    parser.add_argument("--seed", type=int, default=1, help="of what is sent (1)")
    return parser


def powercuts() -> argparse.ArgumentParser:
    words = "Cut the power of both stores, again and again, under load."
    parser = argparse.ArgumentParser(prog="./dev chaos powercuts", description=words)
    parser.add_argument("--times", type=int, default=100, help="how often (100)")
    parser.add_argument("--rate", type=float, default=120.0, help="requests a second (120)")
    parser.add_argument("--seed", type=int, default=1, help="of what is sent, and when (1)")
    return parser


def teeth() -> argparse.ArgumentParser:
    words = (
        "Plant each bug in a copy of this tree and show that the checker turns red, by the promise"
        " that the bug breaks; and that each scene is green without it."
    )
    parser = argparse.ArgumentParser(prog="./dev chaos teeth", description=words)
    known = sorted(file.stem for file in TEETH.glob("*.patch"))
    parser.add_argument(
        "names",
        nargs="*",
        type=one_of(known),
        metavar="NAME",
        help="bugs; else all of them",
    )
    parser.add_argument("--no-clean", action="store_true", help="don't play scenes without a bug")
    return parser


def reliability() -> argparse.ArgumentParser:
    words = "Show docs/reliability.md, made of the files that the last runs left."
    parser = argparse.ArgumentParser(prog="./dev chaos reliability", description=words)
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    return parser


PROGRAMS = Programs(
    "chaos",
    "Break things under load, and judge what is left.",
    {
        "run": run,
        "recovery": recovery,
        "outages": outages,
        "powercuts": powercuts,
        "teeth": teeth,
        "reliability": reliability,
    },
    default="run",
)
