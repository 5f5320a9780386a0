"""`./dev up`: starts everything, in the foreground until Ctrl-C or in the background."""

import argparse
import sys

from infra.dev.paths import VAR
from infra.dev.place import Place
from infra.dev.ports import BASE, Ports
from infra.dev.stack import Stack
from infra.dev.steps import Failure, give_up
from infra.dev.supervisor import supervise


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev up", description=__doc__)
    parser.add_argument("--detach", action="store_true", help="return when all is ready")
    parser.add_argument(
        "--port-base",
        type=int,
        default=BASE,
        metavar="N",
        help=f"main server on N, proxy on N+1, and so on ({BASE})",
    )
    arguments = parser.parse_args()
    print("Starting Gatepost", flush=True)
    if arguments.detach:
        stack = Stack(VAR, arguments.port_base, outlives=True)
        try:
            stack.start(echo=lambda text: print(text, end="", flush=True))
        except Failure:
            sys.exit(1)  # it has said why
    else:
        supervise(Place(VAR), Ports.at(arguments.port_base), in_foreground=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        give_up(failure)
