"""`./dev up`: starts everything, in the foreground until Ctrl-C or in the background."""

import sys

from infra.dev.options import stack as options
from infra.dev.paths import VAR
from infra.dev.place import Place
from infra.dev.ports import Ports
from infra.dev.stack import Stack
from infra.dev.steps import Failure
from infra.dev.supervisor import supervise


def main() -> None:
    arguments = options.up().parse_args()
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


if __name__ == "__main__":
    main()
