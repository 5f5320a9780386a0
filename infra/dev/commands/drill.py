"""`./dev drill NAME …`: runs tests/drills/NAME.py with the rest of the arguments."""

import os
import sys

from infra.dev.paths import ROOT

FOLDER = ROOT / "tests" / "drills"


def main(arguments: list[str]) -> None:
    names = sorted(file.stem for file in FOLDER.glob("[a-z]*.py"))
    if not arguments or arguments[0] not in names:
        print(f"./dev drill NAME …, where NAME is one of: {', '.join(names)}", file=sys.stderr)
        sys.exit(2)
    sys.stdout.flush()
    name, *rest = arguments
    os.execv(sys.executable, [sys.executable, "-m", f"tests.drills.{name}", *rest])


if __name__ == "__main__":
    main(sys.argv[1:])
