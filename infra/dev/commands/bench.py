"""`./dev bench [NAME] …`: runs bench/NAME.py with the rest of the arguments; without, the path."""

import os
import sys

from infra.dev.options.bench import PROGRAMS

if __name__ == "__main__":
    name, arguments = PROGRAMS.choose(sys.argv[1:])
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", f"bench.{name}", *arguments])
