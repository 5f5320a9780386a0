"""The options of commands that start a stack, ask it and stop it, and of its nightly pipeline."""

import argparse
from datetime import date

from infra.dev.options.programs import Programs
from infra.dev.place import ENGINES, SERVICES
from infra.dev.ports import BASE, HIGHEST_BASE, LOWEST_BASE


def up() -> argparse.ArgumentParser:
    words = "Start everything, in the foreground until Ctrl-C or in the background."
    parser = argparse.ArgumentParser(prog="./dev up", description=words)
    parser.add_argument("--detach", action="store_true", help="return when all is ready")
    parser.add_argument(
        "--port-base",
        type=_port_base,
        default=BASE,
        metavar="N",
        help=f"main server on N, proxy on N+1, and so on ({BASE})",
    )
    return parser


def status() -> argparse.ArgumentParser:
    words = "Show what runs and where; with --json, all that a script needs to use it."
    parser = argparse.ArgumentParser(prog="./dev status", description=words)
    parser.add_argument("--json", action="store_true", help="one JSON object, passwords included")
    return parser


def logs() -> argparse.ArgumentParser:
    words = "Show what the services have said, one short line an event."
    parser = argparse.ArgumentParser(prog="./dev logs", description=words)
    choices = [*SERVICES, *ENGINES, "stack"]
    parser.add_argument(
        "service", nargs="?", choices=choices, metavar="service", help=", ".join(choices)
    )
    parser.add_argument("-f", "--follow", action="store_true", help="until Ctrl-C")
    return parser


def down() -> argparse.ArgumentParser:
    words = "Stop everything that `./dev up` has started; the data stays."
    return argparse.ArgumentParser(prog="./dev down", description=words)


def demo() -> argparse.ArgumentParser:
    words = "Kill everything under a minute of load, on a stack of its own, and show what is left."
    return argparse.ArgumentParser(prog="./dev demo", description=words)


def analytics_run() -> argparse.ArgumentParser:
    words = "Extract the days that can still change, check and publish them with their reports."
    parser = argparse.ArgumentParser(prog="./dev analytics run", description=words)
    parser.add_argument("--catch-up", action="store_true", help="however many days are due")
    return parser


def analytics_rebuild() -> argparse.ArgumentParser:
    words = "Make the reports of published days again, from the lake. Both days are meant, too."
    parser = argparse.ArgumentParser(prog="./dev analytics rebuild", description=words)
    for name in ("first", "last"):
        parser.add_argument(name, type=date.fromisoformat, metavar="YYYY-MM-DD")
    return parser


def analytics_status() -> argparse.ArgumentParser:
    words = "Show the last runs, and how far the lake is. Exit code 1 if a night is missing."
    parser = argparse.ArgumentParser(prog="./dev analytics status", description=words)
    parser.add_argument("--limit", type=int, default=5, help="how many runs (5)")
    parser.add_argument("--json", action="store_true", help="JSON, errors too")
    return parser


ANALYTICS = Programs(
    "analytics",
    "Run `gatepost analytics` with the settings of this checkout's stack.",
    {"run": analytics_run, "rebuild": analytics_rebuild, "status": analytics_status},
)


def _port_base(text: str) -> int:
    base = int(text)
    if not LOWEST_BASE <= base <= HIGHEST_BASE:
        raise argparse.ArgumentTypeError(f"not between {LOWEST_BASE} and {HIGHEST_BASE}")
    return base
