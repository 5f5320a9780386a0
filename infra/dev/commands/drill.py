"""`./dev drill NAME …`: runs tests/drills/NAME.py with the rest of the arguments."""

import os
import sys

from infra.dev.options.drill import PROGRAMS

if __name__ == "__main__":
    name, arguments = PROGRAMS.choose(sys.argv[1:])
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", f"tests.drills.{name}", *arguments])
