"""`./dev bench [NAME] …`: runs bench/NAME.py with the rest of the arguments; without, the path."""

import os
import sys

from infra.dev.paths import ROOT

FOLDER = ROOT / "bench"


def main(arguments: list[str]) -> None:
    names = sorted(file.stem for file in FOLDER.glob("[a-z]*.py"))
    if not arguments or arguments[0].startswith("--"):
        arguments = ["path", *arguments]
    if arguments[0] not in names:
        print(f"./dev bench NAME …, where NAME is one of: {', '.join(names)}", file=sys.stderr)
        sys.exit(2)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", f"bench.{arguments[0]}", *arguments[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
