"""`./dev chaos [NAME] …`: runs tests/chaos/NAME.py with the rest of the arguments."""

import os
import sys

from infra.dev.options.chaos import PROGRAMS

if __name__ == "__main__":
    name, arguments = PROGRAMS.choose(sys.argv[1:])
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", f"tests.chaos.{name}", *arguments])
