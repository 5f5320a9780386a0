"""`./dev up`: starts everything, in the foreground until Ctrl-C or in the background."""

import argparse
import sys

from infra.dev.paths import VAR
from infra.dev.place import Place
from infra.dev.ports import BASE, HIGHEST_BASE, LOWEST_BASE, Ports
from infra.dev.stack import Stack
from infra.dev.steps import Failure
from infra.dev.supervisor import supervise


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev up", description=__doc__)
    parser.add_argument("--detach", action="store_true", help="return when all is ready")
    parser.add_argument(
        "--port-base",
        type=_port_base,
        default=BASE,
        metavar="N",
        help=f"main server on N, proxy on N+1, and so on ({BASE})",
    )
    arguments = parser.parse_args()
    print("Starting Gatepost", flush=True)
    if arguments.detach:
        start_in_background(arguments.port_base)
    else:
        supervise(Place(VAR), Ports.at(arguments.port_base), in_foreground=True)


def start_in_background(port_base: int) -> None:
    try:
        stack = Stack(VAR, port_base, outlives=True)
        stack.start(echo=lambda text: print(text, end="", flush=True))
    except (Failure, KeyboardInterrupt):
        sys.exit(1)  # the stack has said why


def _port_base(text: str) -> int:
    base = int(text)
    if not LOWEST_BASE <= base <= HIGHEST_BASE:
        raise argparse.ArgumentTypeError(f"not between {LOWEST_BASE} and {HIGHEST_BASE}")
    return base


if __name__ == "__main__":
    main()
