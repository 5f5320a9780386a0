"""The options of `./dev drill`: the programs of tests/drills, by their modules' names."""

import argparse

from infra.dev.options.programs import Programs, one_of
from infra.dev.paths import ROOT

OPERATING = ROOT / "tests" / "drills" / "operating"
PARTS = sorted(file.stem for file in OPERATING.glob("[a-z]*.py"))


def operate() -> argparse.ArgumentParser:
    words = "Do what operators do, on machines and stores of its own, at length."
    parser = argparse.ArgumentParser(prog="./dev drill operate", description=words)
    parser.add_argument(
        "part",
        nargs="*",
        type=one_of(PARTS),
        metavar="PART",
        help=f"some of: {', '.join(PARTS)}; else all",
    )
    parser.add_argument("--write", action="store_true", help="write figures into the documents")
    parser.add_argument("--scale", type=float, default=1.0, help="of what is large, to try it out")
    return parser


def analytics() -> argparse.ArgumentParser:
    words = "Break the nightly pipeline half-way, and measure it with thirty million messages."
    parser = argparse.ArgumentParser(prog="./dev drill analytics", description=words)
    parser.add_argument("--write", action="store_true", help="write docs/performance-analytics.md")
    parser.add_argument("--scale", type=float, default=1.0, help="of the messages, to try it out")
    parser.add_argument("--faults", action="store_true", help="without the large ledger")
    return parser


PROGRAMS = Programs(
    "drill",
    "Do what takes too long for a test.",
    {"operate": operate, "analytics": analytics},
)
