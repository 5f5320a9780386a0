"""`./dev chaos [NAME] …`: runs tests/chaos/NAME.py with the rest of the arguments."""

import os
import sys

NAMES = ("run", "recovery", "outages", "powercuts", "teeth", "reliability")


def main(arguments: list[str]) -> None:
    name = "run"
    if arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
    if name not in NAMES:
        print(f"./dev chaos [NAME] …, where NAME is one of: {', '.join(NAMES)}", file=sys.stderr)
        sys.exit(2)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", f"tests.chaos.{name}", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
